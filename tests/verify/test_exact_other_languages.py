"""Negations, numbers and dates that differ, in five languages beside English, as a whole check finds them."""

import pytest

from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence


def sure(claim: str, *evidence: str) -> list[str]:
    index = index_evidence([Evidence(id=str(at), text=text) for at, text in enumerate(evidence)])
    return [one.code for one in check_exact(claim, index).findings if one.effect == "contradicts"]


PAIRS = [
    ("Der Urlaub wird bezahlt.", "Der Urlaub wird nicht bezahlt."),
    ("Es gibt einen Parkplatz am Büro.", "Es gibt keinen Parkplatz am Büro."),
    ("Le congé est payé.", "Le congé n'est pas payé."),
    ("Elle travaille le lundi.", "Elle ne travaille plus le lundi."),
    ("El permiso se paga.", "El permiso no se paga."),
    ("La oficina abre los lunes.", "La oficina nunca abre los lunes."),
    ("Il congedo è pagato.", "Il congedo non è pagato."),
    ("A licença é paga.", "A licença não é paga."),
]


@pytest.mark.parametrize(("affirmed", "denied"), PAIRS)
def test_a_sentence_and_its_negation_contradict_each_other(affirmed: str, denied: str) -> None:
    assert sure(affirmed, denied) == ["polarity.negation"]
    assert sure(denied, affirmed) == ["polarity.negation"]
    assert sure(denied, denied) == []


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Der Urlaub wird bezahlt.", "Der Urlaub wird nicht nur bezahlt."),
        ("Der Urlaub wird bezahlt.", "Der Urlaub wird nicht bezahlt, wenn er zu spät beantragt wird."),
        ("Le congé est payé.", "Le congé n'est payé que."),
        ("El permiso se paga.", "El permiso no solo se paga."),
        ("Der Urlaub wird genehmigt.", "Der Urlaub wird nicht bezahlt."),
    ],
)
def test_what_depends_on_more_than_the_negation_is_left_alone(claim: str, evidence: str) -> None:
    assert sure(claim, evidence) == []


def test_a_clause_is_compared_by_itself() -> None:
    assert sure("Der Urlaub wird bezahlt.", "Der Urlaub wird nicht bezahlt und dauert zwei Wochen.") == [
        "polarity.negation"
    ]


def test_nothing_is_found_where_another_sentence_says_the_same() -> None:
    assert (
        sure(
            "Der Urlaub wird ja bezahlt.", "Der Urlaub wird ja bezahlt, sagt sie.", "Der Urlaub wird ja nicht bezahlt."
        )
        == []
    )


@pytest.mark.parametrize(
    ("right", "wrong", "evidence"),
    [
        (
            "Partner erhalten 2 Wochen Urlaub.",
            "Partner erhalten vier Wochen Urlaub.",
            "Partner erhalten zwei Wochen Urlaub.",
        ),
        ("Der Urlaub dauert 14 Tage.", "Der Urlaub dauert 30 Tage.", "Der Urlaub dauert zwei Wochen."),
        ("Le congé dure 2 semaines.", "Le congé dure quatre semaines.", "Le congé dure deux semaines."),
        ("El permiso dura 2 semanas.", "El permiso dura cuatro semanas.", "El permiso dura dos semanas."),
        ("Das Büro öffnet am 3.3.2024.", "Das Büro öffnet am 5. April 2024.", "Das Büro öffnet am 3. März 2024."),
    ],
)
def test_a_number_or_a_date_in_words_agrees_with_digits_and_with_no_other_one(
    right: str, wrong: str, evidence: str
) -> None:
    assert sure(right, evidence) == []
    assert sure(wrong, evidence)[0] in {"number.mismatch", "date.mismatch"}


CAUGHT = [
    (
        "Die Talsperre fasst zwei Millionen dreihunderttausend Kubikmeter Wasser.",
        "Die Talsperre fasst 2.300.000 Kubikmeter Wasser.",
        "Die Talsperre fasst 2.000.000 Kubikmeter Wasser.",
    ),
    (
        "Das Stadion hat fünfundvierzigtausend Plätze.",
        "Das Stadion hat 45.000 Plätze.",
        "Das Stadion hat vierzigtausend Plätze.",
    ),
    (
        "Der Antrag muss bis zum 15. März 2023 beim Amt eingehen.",
        "Der Antrag muss bis zum 15. März 2023 eingehen.",
        "Der Antrag muss bis zum 15. April 2023 beim Amt eingehen.",
    ),
    (
        "Mythos: Der Hund darf mit. Tatsächlich darf der Hund nicht mit.",
        "Der Hund darf nicht mit.",
        "Tatsächlich darf der Hund mit.",
    ),
    (
        "Die Kasse nimmt keine Schecks an.",
        "Die Kasse nimmt keine Schecks an und auch keine Münzen.",
        "Die Kasse nimmt Schecks an.",
    ),
    (
        "Le barrage contient deux millions trois cent mille mètres cubes d'eau.",
        "Le barrage contient 2 300 000 mètres cubes d'eau.",
        "Le barrage contient 2 000 000 mètres cubes d'eau.",
    ),
    (
        "Le stade compte quarante-cinq mille places.",
        "Le stade compte 45 000 places.",
        "Le stade compte quarante mille places.",
    ),
    (
        "La demande doit arriver avant le 15 mars 2023 à la mairie.",
        "La demande doit arriver avant le 15 mars 2023.",
        "La demande doit arriver avant le 15 avril 2023 à la mairie.",
    ),
    (
        "Beaucoup croient que l'entrée est gratuite. L'entrée n'est pas gratuite.",
        "L'entrée n'est pas gratuite.",
        "L'entrée est gratuite.",
    ),
    (
        "Non, le contrat est renouvelé automatiquement.",
        "Le contrat est renouvelé automatiquement.",
        "Le contrat n'est pas renouvelé automatiquement.",
    ),
    (
        "Le train roule à deux cent cinquante kilomètres par heure.",
        "Le train roule à 250 km/h.",
        "Le train roule à 50 km/h.",
    ),
    (
        "El embalse contiene dos millones trescientos mil metros cúbicos de agua.",
        "El embalse contiene 2.300.000 metros cúbicos de agua.",
        "El embalse contiene 2.000.000 metros cúbicos de agua.",
    ),
    (
        "El estadio tiene cuarenta y cinco mil asientos.",
        "El estadio tiene 45.000 asientos.",
        "El estadio tiene cuarenta mil asientos.",
    ),
    (
        "La solicitud debe llegar antes del 15 de marzo de 2023 a la oficina.",
        "La solicitud debe llegar antes del 15 de marzo de 2023.",
        "La solicitud debe llegar antes del 15 de abril de 2023 a la oficina.",
    ),
    (
        "Muchos creen que la entrada es gratuita. La entrada no es gratuita.",
        "La entrada no es gratuita.",
        "La entrada es gratuita.",
    ),
    (
        "El tren circula a doscientos cincuenta kilómetros por hora.",
        "El tren circula a 250 km/h.",
        "El tren circula a 50 km/h.",
    ),
    (
        "La diga contiene due milioni trecentomila metri cubi di acqua.",
        "La diga contiene 2.300.000 metri cubi di acqua.",
        "La diga contiene 2.000.000 metri cubi di acqua.",
    ),
    ("Lo stadio ha quarantacinquemila posti.", "Lo stadio ha 45.000 posti.", "Lo stadio ha quarantamila posti."),
    (
        "La domanda deve arrivare entro il 15 marzo 2023 al comune.",
        "La domanda deve arrivare entro il 15 marzo 2023.",
        "La domanda deve arrivare entro il 15 aprile 2023 al comune.",
    ),
    (
        "Mito: il cane può entrare. In realtà il cane non può entrare.",
        "Il cane non può entrare.",
        "In realtà il cane può entrare.",
    ),
    ("La cassa non accetta assegni.", "La cassa non accetta mai assegni.", "La cassa accetta assegni."),
    (
        "A barragem contém dois milhões e trezentos mil metros cúbicos de água.",
        "A barragem contém 2.300.000 metros cúbicos de água.",
        "A barragem contém 2.000.000 metros cúbicos de água.",
    ),
    (
        "O estádio tem quarenta e cinco mil lugares.",
        "O estádio tem 45.000 lugares.",
        "O estádio tem quarenta mil lugares.",
    ),
    (
        "O pedido deve chegar até 15 de março de 2023 ao balcão.",
        "O pedido deve chegar até 15 de março de 2023.",
        "O pedido deve chegar até 15 de abril de 2023 ao balcão.",
    ),
    (
        "Muitos acreditam que a entrada é gratuita. A entrada não é gratuita.",
        "A entrada não é gratuita.",
        "A entrada é gratuita.",
    ),
    ("A caixa não aceita cheques.", "A caixa não aceita cheques de ninguém.", "A caixa aceita cheques."),
    (
        "O trem circula a duzentos e cinquenta quilômetros por hora.",
        "O trem circula a 250 km/h.",
        "O trem circula a 50 km/h.",
    ),
    (
        "Er sagt, das Büro sei geschlossen. Das Team zählt sechzehn Personen.",
        "Das Team zählt 16 Personen.",
        "Das Team zählt 6 Personen.",
    ),
    (
        "Die Frist läuft ab dem 1. Oktober 2021.",
        "Die Frist läuft ab dem 1. Oktober 2021, also im Herbst.",
        "Die Frist läuft ab dem 1. November 2021.",
    ),
    (
        "Die Zahl der Gäste stieg auf eine Million zweihunderttausend Personen.",
        "Die Zahl der Gäste stieg auf 1.200.000 Personen.",
        "Die Zahl der Gäste stieg auf zwei Millionen Personen.",
    ),
    (
        "Le délai court à partir du 1er octobre 2021.",
        "Le délai court à partir du 1er octobre 2021 dans tous les cas.",
        "Le délai court à partir du 1er novembre 2021.",
    ),
    (
        "Le nombre de clients est passé à un million deux cent mille personnes.",
        "Le nombre de clients est passé à 1 200 000 personnes.",
        "Le nombre de clients est passé à deux millions de personnes.",
    ),
    ("El curso dura dos horas por semana.", "El curso dura 2 horas por semana.", "El curso dura 4 horas por semana."),
    (
        "El número de clientes subió a un millón doscientas mil personas.",
        "El número de clientes subió a 1.200.000 personas.",
        "El número de clientes subió a dos millones de personas.",
    ),
    (
        "Il corso dura due settimane ogni anno.",
        "Il corso dura 2 settimane ogni anno.",
        "Il corso dura 4 settimane ogni anno.",
    ),
    ("La casa non è mai stata venduta.", "La casa non è stata venduta.", "La casa è stata venduta."),
    ("La città ha novantaseimila abitanti.", "La città ha 96.000 abitanti.", "La città ha novantamila abitanti."),
    ("O curso dura duas horas por semana.", "O curso dura 2 horas por semana.", "O curso dura 4 horas por semana."),
    ("A casa nunca foi vendida.", "A casa não foi vendida.", "A casa foi vendida."),
    (
        "A cidade tem noventa e seis mil habitantes.",
        "A cidade tem 96.000 habitantes.",
        "A cidade tem 6.000 habitantes.",
    ),
    (
        "Die Garantie gilt nicht bei Sturz. Sie gilt zwei Jahre.",
        "Die Garantie gilt 2 Jahre.",
        "Die Garantie gilt 4 Jahre.",
    ),
    ("Nenhum sócio paga a quota.", "Nenhum dos sócios paga a quota.", "O sócio paga a quota."),
    ("El servicio no es gratuito y tarda dos semanas.", "El servicio no es gratuito.", "El servicio es gratuito."),
    ("Il servizio non è gratuito e dura due settimane.", "Il servizio non è gratuito.", "Il servizio è gratuito."),
]


@pytest.mark.parametrize(("evidence", "right", "wrong"), CAUGHT)
def test_a_wrong_number_date_or_denial_is_contradicted_and_a_right_one_is_not(
    evidence: str, right: str, wrong: str
) -> None:
    assert sure(right, evidence) == []
    assert sure(wrong, evidence) != []


RIGHT = [
    (
        "Die Talsperre fasst zwei Millionen dreihunderttausend Kubikmeter Wasser.",
        "Die Talsperre fasst 2.300.000 Kubikmeter Wasser.",
    ),
    ("Die Messe läuft vom 3. bis zum 8. Mai 2024 in der Halle.", "Die Messe beginnt am 3. Mai 2024."),
    ("Mythos: Der Hund darf mit. Tatsächlich darf der Hund nicht mit.", "Der Hund darf nicht mit."),
    (
        "Le barrage contient deux millions trois cent mille mètres cubes d'eau.",
        "Le barrage contient 2 300 000 mètres cubes d'eau.",
    ),
    (
        "Le barrage contient deux millions trois cent mille mètres cubes d'eau.",
        "Le barrage contient 2,3 millions de mètres cubes d'eau.",
    ),
    ("Le préavis est de cent vingt jours.", "Le préavis est de 120 jours."),
    ("La formation dure trois ans et demi.", "La formation dure 3,5 ans."),
    ("Le stade compte quarante-cinq mille places.", "Le stade compte 45 000 places."),
    ("La fondation verse deux millions d'euros par an.", "La fondation verse 2.000.000 euros par an."),
    ("Le salon se tient du 3 au 8 mai 2024 à la halle.", "Le salon commence le 3 mai 2024."),
    ("C'est le plus grand tunnel jamais construit.", "C'est le plus grand tunnel construit."),
    ("Le train roule à deux cent cinquante kilomètres par heure.", "Le train roule à 250 kilomètres par heure."),
    (
        "El embalse contiene dos millones trescientos mil metros cúbicos de agua.",
        "El embalse contiene 2.300.000 metros cúbicos de agua.",
    ),
    (
        "El embalse contiene dos millones trescientos mil metros cúbicos de agua.",
        "El embalse contiene 2,3 millones de metros cúbicos de agua.",
    ),
    ("El plazo de aviso es de ciento veinte días.", "El plazo de aviso es de 120 días."),
    ("La formación dura tres años y medio.", "La formación dura 3,5 años."),
    ("El estadio tiene cuarenta y cinco mil asientos.", "El estadio tiene 45.000 asientos."),
    ("La fundación da dos millones de euros al año.", "La fundación da 2.000.000 de euros al año."),
    ("La feria es del 3 al 8 de mayo de 2024 en el pabellón.", "La feria empieza el 3 de mayo de 2024."),
    ("Es el puente más largo jamás construido.", "Es el puente más largo construido."),
    ("El tren circula a doscientos cincuenta kilómetros por hora.", "El tren circula a 250 kilómetros por hora."),
    (
        "La diga contiene due milioni trecentomila metri cubi di acqua.",
        "La diga contiene 2,3 milioni di metri cubi di acqua.",
    ),
    ("Il corso dura tre anni e mezzo.", "Il corso dura 3,5 anni."),
    ("La fondazione versa due milioni di euro ogni anno.", "La fondazione versa 2.000.000 di euro ogni anno."),
    ("La fiera si tiene dal 3 all'8 maggio 2024 nel padiglione.", "La fiera inizia il 3 maggio 2024."),
    ("È stato il mese più caldo mai registrato.", "È stato il mese più caldo registrato."),
    ("Mito: il cane può entrare. In realtà il cane non può entrare.", "Il cane non può entrare."),
    (
        "A barragem contém dois milhões e trezentos mil metros cúbicos de água.",
        "A barragem contém 2.300.000 metros cúbicos de água.",
    ),
    (
        "A barragem contém dois milhões e trezentos mil metros cúbicos de água.",
        "A barragem contém 2,3 milhões de metros cúbicos de água.",
    ),
    ("O prazo de aviso é de cento e vinte dias.", "O prazo de aviso é de 120 dias."),
    ("A formação dura três anos e meio.", "A formação dura 3,5 anos."),
    ("O estádio tem quarenta e cinco mil lugares.", "O estádio tem 45.000 lugares."),
    ("A fundação dá dois milhões de euros por ano.", "A fundação dá 2.000.000 de euros por ano."),
    ("É a maior ponte jamais construída.", "É a maior ponte construída."),
    ("A garantia cobre quedas? Não. Cobre os defeitos de fábrica.", "A garantia não cobre quedas."),
    ("O trem circula a duzentos e cinquenta quilômetros por hora.", "O trem circula a 250 quilômetros por hora."),
    ("Die Tagung findet am 4. und 6. Juni 2022 statt.", "Die Tagung findet am 4. Juni 2022 statt."),
    ("Das Praktikum dauert zwei Jahre und sechs Monate.", "Das Praktikum dauert 30 Monate."),
    ("La conférence a lieu le 4 et le 6 juin 2022.", "La conférence a lieu le 4 juin 2022."),
    ("L'appartement neuf a soixante-douze mètres carrés.", "L'appartement neuf a 72 m²."),
    (
        "Le nombre de clients est passé à un million deux cent mille personnes.",
        "Le nombre de clients est passé à 1 200 000 personnes.",
    ),
    (
        "Le nombre de clients est passé à un million deux cent mille personnes.",
        "Le nombre de clients est passé à 1,2 million de personnes.",
    ),
    ("La conferencia es el 4 y el 6 de junio de 2022.", "La conferencia es el 4 de junio de 2022."),
    ("La práctica dura dos años y seis meses.", "La práctica dura 30 meses."),
    ("El piso tiene setenta y dos metros cuadrados.", "El piso tiene 72 m²."),
    ("La ciudad tiene noventa y seis mil habitantes.", "La ciudad tiene 96.000 habitantes."),
    ("La ciudad tiene noventa y seis mil habitantes.", "La ciudad tiene 96 mil habitantes."),
    ("La conferenza è il 4 e il 6 giugno 2022.", "La conferenza è il 4 giugno 2022."),
    ("Il tirocinio dura due anni e sei mesi.", "Il tirocinio dura 30 mesi."),
    ("La casa ha settantadue metri quadrati.", "La casa ha 72 m²."),
    ("A conferência é em 4 e 6 de junho de 2022.", "A conferência é em 4 de junho de 2022."),
    ("O estágio dura dois anos e seis meses.", "O estágio dura 30 meses."),
    ("A casa tem setenta e dois metros quadrados.", "A casa tem 72 m²."),
    ("A cidade tem noventa e seis mil habitantes.", "A cidade tem 96.000 habitantes."),
    ("A cidade tem noventa e seis mil habitantes.", "A cidade tem 96 mil habitantes."),
    ("O prazo é de cento e vinte dias.", "O prazo é de 120 dias."),
    ("Il prestito è di due milioni di euro.", "Il prestito è di 2.000.000 di euro."),
    ("C'est la plus haute tour jamais bâtie dans la ville.", "C'est la plus haute tour bâtie dans la ville."),
    ("Die Schau läuft vom 3. bis zum 8. Mai 2024.", "Die Schau beginnt am 3. Mai 2024."),
    ("Die Schau ist vom 28. April bis zum 8. Mai 2024 offen.", "Die Schau ist am 3. Mai 2024 offen."),
    ("Le parc est ouvert du 28 avril au 8 mai 2024.", "Le parc est ouvert le 3 mai 2024."),
    ("Der Umsatz betrug 2,5 Millionen Euro.", "Der Umsatz betrug 2,5 Mio. Euro."),
    ("La pista è lunga 1.500 metri.", "La pista è lunga 1,5 km."),
    ("La pista mide 1.500 metros.", "La pista mide 1,5 km."),
    ("Der Eintritt ist frei. Das stimmt nicht mehr.", "Der Eintritt ist nicht frei."),
]


@pytest.mark.parametrize(("evidence", "claim"), RIGHT)
def test_what_is_not_read_whole_contradicts_nothing(evidence: str, claim: str) -> None:
    assert sure(claim, evidence) == []


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("La reunión duró tres semanas.", "La reunión duró dos semanas y media."),
        ("La réunion a duré deux semaines.", "La réunion a duré quinze jours."),
        ("O estágio dura três meses.", "O estágio dura um trimestre."),
    ],
)
def test_a_number_in_words_is_never_missing(claim: str, evidence: str) -> None:
    index = index_evidence([Evidence(id="1", text=evidence)])
    assert [one.code for one in check_exact(claim, index).findings] == []
