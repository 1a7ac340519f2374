"""Two dates for one event: found in many wordings; other events, moved dates, repeats and doubts are left alone."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import assert_linear

from assay.text.sentences.splitting import split_sentences
from assay.verify.logic import LogicFinding, audit_logic
from assay.verify.logic.chronology.conflicting_dates import conflicting_date_findings


def found(text: str) -> list[LogicFinding]:
    return conflicting_date_findings(text, split_sentences(text))


WRONG = [
    "The bridge opened in 1932. It replaced a ferry. Since its opening in 1934, the bridge has carried trams.",
    "The bridge was opened in 1932. The opening of the bridge in 1934 drew a large crowd.",
    "The Harbour Bridge was opened in 1932. The bridge's 1934 opening drew a crowd.",
    "In 1932, the bridge opened to traffic. Tolls were low. The bridge opened in 1935.",
    "Opened in 1932, the bridge carries trams. The bridge was officially opened in 1934.",
    "The museum (opened in 1932) has two floors. The museum opened in 1935.",
    "The museum, which opened in 1932, has two floors. The museum was opened by the queen in 1935.",
    "Founded in 1998, Acme makes pumps. Acme was founded by two engineers in 2001.",
    "Acme was founded in 1998. Since its founding in 2001, it has grown to 40 people.",
    "Acme was founded in 1998. It has two plants. It was founded in 2001 by two engineers.",
    "Acme Pumps was established in 1998. The establishment of Acme Pumps in 2001 changed the market.",
    "The firm was incorporated in 2003. After the incorporation of the firm in 2005, sales rose.",
    "Marie Curie was born in Warsaw in 1867. Born in 1869, Marie Curie moved to Paris.",
    "Marie Curie, who was born in 1867, won it twice. Marie Curie was born in 1869.",
    "Ada Lovelace was born on 10 December 1815. Ada Lovelace was born in 1816 in London.",
    "Ada Lovelace died in 1852. She wrote notes on the engine. She died on 27 November 1853.",
    "Brahms died in Vienna in 1897. The death of Brahms in 1899 was mourned widely.",
    "The treaty was signed on 5 May 1950. The signing of the treaty on 6 May 1950 ended the war.",
    "The treaty was signed in 1950. It was ratified in 1951. The treaty was signed in 1952.",
    "The treaty was ratified in 1951. Its ratification in 1953 closed the matter.",
    "Your order was shipped on 3 May 2024. We can confirm that your order was shipped on 5 May 2024.",
    "Your order was placed on 1 May 2024. Your order, placed on 2 May 2024, is on its way.",
    "The parcel was delivered on 12 March. The delivery of the parcel on 14 March was signed for.",
    "The war began in 1914. It ended in 1918. After the war ended in 1919, talks began.",
    "The war broke out in 1914. The outbreak of the war in 1915 surprised many.",
    "The contract was signed on 3 June 2022. It took effect in July. The contract was signed on 5 June 2022.",
    "The contract took effect in July 2022. Since the contract took effect in August 2022, prices fell.",
    "The policy came into force on 1 January 2020. The policy came into force on 1 March 2020.",
    "The law was adopted in 1990. The adoption of the law in 1992 was contested.",
    "The law was repealed in 1990. The law's repeal in 1993 was welcomed.",
    "Windmere Tower was completed in 2011. Since its completion in 2013, Windmere Tower has been full.",
    "Windmere Tower was built in 2011. The tower was built in 2013 by local workers.",
    "Construction of the dam began in 1961. Many came to work. Construction of the dam began in 1963.",
    "The probe was launched on 5 September 1977. The probe's launch on 20 August 1977 went well.",
    "Kestrel 2 was launched in March 2019. The launch of Kestrel 2 in May 2019 was watched by millions.",
    "The album was released in 1971. Since its release in 1973, the album has sold a million copies.",
    "The ship sank on 14 April 1912. The sinking of the ship on 16 April 1912 led to new rules.",
    "The old mill was demolished in 1974. The demolition of the old mill in 1976 angered the town.",
    "Borel acquired Acme in 2010. Acme grew. Borel acquired Acme in 2012.",
    "Dr Lind was appointed director in 2015. Dr Lind was appointed director in 2017.",
    "The comet was discovered in 1995. The discovery of the comet in 1997 made headlines.",
    "The factory closed in 2008. The closure of the factory in 2009 cost 400 jobs.",
    "- The library opened in 1901.\n- The library was opened in 1904.",
    "The Aldgate library was inaugurated in 1911. When the library was inaugurated in 1913, 400 people came.",
    "Kite Ltd was set up in 2004. Since it was set up in 2006, it has doubled.",
    "The dam was finished in 1958. It supplies two towns. The dam, completed in 1961, is 90 m high.",
    "The school first opened its doors in 1920. The school opened its doors in 1922.",
    "Mozart was born in Salzburg in 1756 and died in Vienna in 1791. Mozart died in 1793.",
    "The station, which was opened in 1899, closed in 1964. The station opened in 1901 and closed in 1964.",
    "The merger was completed on 3 May 2021. Since the merger's completion on 5 June 2021, staff numbers fell.",
    "The park was created in 1872. Created in 1875, the park covers 9,000 km2.",
    "The lease began on 1 March 2020. As the lease began on 1 April 2020, it ends in 2025.",
    "The warranty expired on 4 May 2023. The expiry of the warranty on 6 May 2023 means no repair.",
    "The Eiffel Tower was completed in 1889. Completed in 1887, the tower was the tallest building.",
    "Dr. Okafor joined the team in 2018. Dr. Okafor joined the team in 2016.",
    "The novel was published in 1925. First published in 1927, the novel sold poorly.",
    "The law entered into force on 25 May 2018. It binds all. The law entered into force on 1 June 2018.",
    "Your claim was approved on 2 June. Your claim, approved on 4 June, will be paid.",
    "The city was founded in 1237. The founding of the city in 1244 is celebrated.",
    "The store opened in 2010; it has grown since. After opening in 2012, the store added a cafe.",
]

HONEST = [
    "The bridge opened in 1932. It replaced a ferry. Since its opening in 1932, the bridge has carried trams.",
    "The bridge was originally planned for 1930. The bridge opened in 1932.",
    "The bridge was to open in 1930. It was opened in 1932 after delays.",
    "The opening of the bridge was planned for 1930, and the bridge opened in 1932.",
    "The bridge opened in 1932. The tunnel opened in 1934.",
    "The Harbour Bridge opened in 1932. The Mill Bridge opened in 1934. The bridge opened in 1934 is shorter.",
    "The old bridge opened in 1832. The bridge opened in 1932.",
    "The bridge opened to pedestrians in 1932. The bridge opened to cars in 1934.",
    "The bridge closed in 1940. The bridge opened again in 1946. The bridge opened in 1932.",
    "The bridge opened in 1932. After the fire the bridge was reopened in 1946.",
    "The bridge was built between 1928 and 1932. The bridge opened in 1932.",
    "The museum opened in 1932. The museum moved, and the museum opened on the new site in 1990.",
    "According to the first guide, the museum opened in 1932. The museum opened in 1935.",
    "One page says the museum opened in 1932. Another says the museum opened in 1935.",
    "The museum opened in 1932. The museum opened in 1935. The sources disagree on the year.",
    "The museum opened in 1932, not in 1935. The museum opened in 1932.",
    "Acme was founded in 1998. Borel was founded in 2001.",
    "Acme was founded in 1998. Its rival Borel was founded in 2001.",
    "Acme was founded in 1998. Its parent sold it. It was founded in 1998 by two engineers.",
    "Acme was founded in 1998. Borel bought it later. Since its founding in 2001, Borel has grown.",
    "Acme was founded in 1998 and incorporated in 2001.",
    "Acme was founded as a club in 1998. Acme was founded as a company in 2001.",
    "Marie Curie was born in 1867. Pierre Curie was born in 1859.",
    "Marie Curie was born in 1867. She died in 1934.",
    "Ada Lovelace was born on 10 December 1815. Ada Lovelace was born in 1815.",
    "Ada Lovelace was born around 1815. Ada Lovelace was born in 1816.",
    "The treaty was signed in 1950. The protocol was signed in 1952.",
    "The treaty was signed in May 1950. The signing of the treaty on 5 May 1950 ended the war.",
    "Your order was placed on 1 May 2024. Your order was shipped on 3 May 2024.",
    "Your first order was shipped on 1 May 2024. Your second order was shipped on 3 May 2024.",
    "The annual report was published in 2020. The annual report was published in 2021.",
    "The first edition was published in 1990. The second edition was published in 1995.",
    "The war began in 1914. The second war began in 1939.",
    "A report was published in 2010. A report was published in 2012.",
    "The film was released in France in 2001. The film was released in Japan in 2002.",
    "The film was released in 2001 or 2002. The film was released in 2001.",
    "The game was released in 2001. A remake of the game was released in 2020. The game was released in 2001.",
    "## Bristol\n\nThe museum opened in 1932.\n\n## Bath\n\nThe museum opened in 1935.",
    "If the bridge was opened in 1930, it is old. The bridge was opened in 1932.",
    "Was the bridge opened in 1930? The bridge was opened in 1932.",
    "The launch of the probe was moved. The probe was launched in 1977. The probe would be launched in 1978.",
    "Telford designed the station. It opened in 1854. Telford designed the bridge. It opened in 1864.",
    'The sign says "opened in 1930". The bridge opened in 1932.',
    "The school first opened its doors in 1920. Since it opened in 1920, it has grown.",
    "Mozart was born in 1756 and died in 1791. Mozart died in Vienna in 1791.",
    "The brochure claims the school opened in 1920. The school opened in 1922.",
    "Dr. Okafor joined the board in 2018. Dr. Okafor joined the team in 2016.",
    "In 1913, 1914 and 1915 the library was rebuilt. The library was inaugurated in 1911.",
]


@pytest.mark.parametrize("text", WRONG)
def test_two_dates_for_one_event_are_found(text: str) -> None:
    assert [f.code for f in found(text)] == ["logic.two_dates"]


@pytest.mark.parametrize("text", HONEST)
def test_other_events_moved_dates_repeats_and_doubts_are_left_alone(text: str) -> None:
    assert found(text) == []


def test_both_places_are_named() -> None:
    text = WRONG[0]
    finding = next(f for f in audit_logic(text).findings if f.code == "logic.two_dates")
    assert text[finding.span.start : finding.span.end] == "opening in 1934"
    assert [text[s.start : s.end] for s in finding.others] == ["opened in 1932"]
    assert "“opened in 1932” and “opening in 1934”" in finding.message


@given(first=st.integers(1700, 2020), second=st.integers(1700, 2020), event=st.sampled_from(["founded", "opened"]))
def test_only_dates_that_differ_are_spoken_of(first: int, second: int, event: str) -> None:
    text = f"The library was {event} in {first}. It has two floors. It was {event} in {second}."
    assert len(found(text)) == (first != second)


@settings(max_examples=40)
@given(text=st.text(alphabet="aTIthe .,;\n()0123456789opendwasinlug'", max_size=300))
def test_places_lie_in_the_text(text: str) -> None:
    for finding in found(text):
        assert 0 <= finding.span.start < finding.span.end <= len(text)


@pytest.mark.parametrize(
    "piece",
    [
        "The bridge opened in 1932. ",
        "opened in 1932 ",
        "The bridge opened ",
        "It opened in 1932. ",
        "its opening, ",
        "The A was opened in 1932, and the B was opened in 1933. ",
        "reopened ",
        "In 1932, ",
        "the bridge's ",
        "(opened in 1932) ",
    ],
)
def test_a_hundred_thousand_characters_take_time_in_proportion(piece: str) -> None:
    def prepare(text: str) -> Callable[[], object]:
        sentences = split_sentences(text)
        return lambda: conflicting_date_findings(text, sentences)

    assert_linear(prepare, piece)
