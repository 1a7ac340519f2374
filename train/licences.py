"""Where the labelled sets come from and under which licence, for the model card.

None of their text is in the repository. Licences are those of the repositories named; where one says nothing of texts
that it took over, the licence of these stands beside it.
"""

from typing import NamedTuple


class Source(NamedTuple):
    """One family of sets that share a source and a licence."""

    sets: tuple[str, ...]
    licence: str
    repository: str
    by: str
    """Who labelled."""


SOURCES: tuple[Source, ...] = (
    Source(("mnli",), "MNLI's terms (mostly OANC)", "Alicia-Parrish/ling_in_loop", "people"),
    Source(("taxinli",), "C-UDA 1.0", "microsoft/TaxiNLI", "people"),
    Source(("mnli_binary",), "MNLI's terms, repository BSD-3", "salesforce/DocNLI", "people"),
    Source(("snli",), "CC BY-SA 4.0", "OanaMariaCamburu/e-SNLI", "people"),
    Source(("cad_nli",), "Apache-2.0, SNLI text CC BY-SA 4.0", "acmi-lab/counterfactually-augmented-data", "people"),
    Source(("infotabs",), "Apache-2.0", "infotabs/infotabs", "people"),
    Source(("tabfact_pairs",), "MIT", "wenhuchen/Table-Fact-Checking", "people"),
    Source(("conjnli",), "MIT", "swarnaHub/ConjNLI", "people; the larger part by rules"),
    Source(("negnli_mnli", "negnli_snli", "negnli_rte"), "MIT", "mosharafhossain/negation-and-nli", "people"),
    Source(("folio",), "CC BY-SA 4.0", "Yale-LILY/FOLIO", "people"),
    Source(("ambient_disamb",), "CC BY 4.0", "alisawuffles/ambient", "people"),
    Source(("scitab",), "MIT", "XinyuanLu00/SciTab", "people"),
    Source(("checkcovid",), "MIT, texts of CORD-19", "posuer/Check-COVID", "people"),
    Source(("megaveridicality",), "MIT", "decompositional-semantics-initiative/DNC", "people, on templates"),
    Source(("fm2",), "Apache-2.0, texts CC BY-SA", "google-research/fool-me-twice", "people"),
    Source(("fever_symmetric",), "CC BY-SA 3.0", "TalSchuster/FeverSymmetric", "people"),
    Source(("defacto",), "MIT, news texts", "microsoft/DeFacto", "people"),
    Source(("storysumm",), "MIT", "melaniesubbiah/storysumm", "people"),
    Source(("fevernli_binary", "fever_rte"), "texts CC BY-SA", "salesforce/DocNLI, asaakyan/covidfact", "people"),
    Source(
        ("begin_wow", "begin_cmudog", "begin_topicalchat"), "CC BY 4.0, CDLA-Sharing", "google/BEGIN-dataset", "people"
    ),
    Source(("q2_wow_cross",), "MIT", "orhonovich/q-squared", "people"),
    Source(("faithdial_audit",), "MIT", "McGill-NLP/FaithDial", "people"),
    Source(
        ("wice_claim", "wice_claim_oracle", "wice_nonsupported_tokens"), "ODC-BY, CC BY-SA", "ryokamoi/wice", "people"
    ),
    Source(
        ("summedits_ectsum", "summedits_qmsumm", "summedits_sales_email", "summedits_samsum"),
        "Apache-2.0",
        "salesforce/factualNLG",
        "edits by a language model, checked by people",
    ),
    Source(("bump_task1", "bump_task2"), "MIT", "dataminr-ai/BUMP", "people"),
    Source(("scifact_rte",), "CC BY 4.0, ODC-By", "asaakyan/covidfact", "people"),
    Source(("factcheck_gpt",), "Apache-2.0", "yuxiaw/Factcheck-GPT", "people"),
    Source(("halueval_qa500",), "MIT", "RUCAIBox/HaluEval", "wrong answers by a language model"),
    Source(("help_conjdisj",), "CC BY-SA 4.0", "verypluming/HELP", "rules"),
    Source(("med",), "CC BY-SA 4.0", "verypluming/MED", "people and literature"),
    Source(("breaking_nli",), "CC BY-SA 4.0", "BIU-NLP/Breaking_NLI", "rules, checked by people"),
    Source(("expertqa",), "MIT", "chaitanyamalaviya/ExpertQA", "experts"),
    Source(
        ("expertqa_ab", "stanford_gensearch", "attributedqa"),
        "MIT and Apache-2.0 of the sets joined there; it has none of its own",
        "OSU-NLP-Group/AttributionBench",
        "people",
    ),
    Source(
        ("refchecker_dolly_triplets", "refchecker_dolly_answers"),
        "annotations CC BY 4.0, texts CC BY-SA 3.0",
        "amazon-science/RefChecker",
        "people",
    ),
    Source(("mtrag_human_eval",), "Apache-2.0", "IBM/mt-rag-benchmark", "people"),
    Source(
        ("xsumfaith",), "CC BY 4.0, news texts", "google-research-datasets/xsum_hallucination_annotations", "people"
    ),
    Source(("cliff",), "Apache-2.0, news texts", "Liyan06/AggreFact", "people"),
    Source(("fib_xsum",), "CC BY 4.0, news texts", "r-three/fib", "people"),
    Source(("bamboo_senhallu_4k", "bamboo_abshallu_4k"), "MIT", "RUCAIBox/BAMBOO", "wrong claims by a language model"),
    Source(("condaqa",), "Apache-2.0", "AbhilashaRavichander/CondaQA", "people"),
    Source(("pubmedqa_yesno",), "MIT", "pubmedqa/pubmedqa", "people"),
    Source(("scone",), "CC0", "selenashe/ScoNe", "people"),
    Source(("liar_plus",), "CC0, texts of PolitiFact", "Tariq60/LIAR-PLUS", "journalists"),
    Source(("indonli",), "CC BY-SA", "ir-nlp-csui/indonli", "people"),
    Source(("farstail",), "Apache-2.0", "dml-qom/FarsTail", "people"),
    Source(("klue_nli",), "CC BY-SA 4.0", "KLUE-benchmark/KLUE", "people"),
    Source(("jnli",), "CC BY-SA 4.0", "yahoojapan/JGLUE", "people"),
)
"""The sets that the network is trained on; the keys of `train.rows.QUOTAS`."""
