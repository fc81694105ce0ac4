"""What is said in German, French, Spanish and Italian: read, dated, and said of the user."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.memory.extraction import extract_claims
from consolidate.memory.first_person import about
from consolidate.memory.relative import absolute, language
from consolidate.settings import Settings
from eval.extraction import extraction_lines, run_extraction
from eval.run import main

WEDNESDAY = date(2026, 3, 4)


def read(text: str, speaker: str = "user") -> list[str]:
    return [c.text for c in extract_claims(text, said_on=WEDNESDAY, speaker=speaker)[0]]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Ich habe zwei Katzen und arbeite bei Acme.",
         "User hat zwei Katzen und arbeitet bei Acme."),
        ("Ich unterrichte Mathematik.", "User unterrichtet Mathematik."),
        ("Ich sammle Briefmarken.", "User sammelt Briefmarken."),
        ("Ich öffne um acht.", "User öffnet um acht."),
        ("Seit 2020 wohne ich in Bonn.", "Seit 2020 wohnt User in Bonn."),
        ("Das Haus gehört mir.", "Das Haus gehört User."),
        ("J'ai deux enfants et je travaille à Lille.",
         "User a deux enfants et User travaille à Lille."),
        ("Je ne suis pas marié.", "User n'est pas marié."),
        ("Je me lève à six heures.", "User se lève à six heures."),
        ("Mon numéro de téléphone a changé.", "Le numéro de téléphone de User a changé."),
        ("Il parle de mon père.", "Il parle du père de User."),
        ("Mes amis habitent à Nice et je les vois.",
         "Mes amis habitent à Nice et je les vois."),
        ("Trabajo en Acme y vivo en León.", "User trabaja en Acme y vive en León."),
        ("Creo que soy alérgico al gluten.", "User cree que es alérgico al gluten."),
        ("No me gusta el pescado.", "A User no le gusta el pescado."),
        ("He comprado un coche.", "User ha comprado un coche."),
        ("La reunión con mi jefe es corta.", "La reunión con el jefe de User es corta."),
        ("Preferisco il caffè.", "User preferisce il caffè."),
        ("Sono nato a Roma.", "User è nato a Roma."),
        ("Lavoro a Milano e vivo con Luca.", "User lavora a Milano e vive con Luca."),
        ("Il mio studio è piccolo.", "Lo studio di User è piccolo."),
        ("Non mi piace il pesce.", "A User non piace il pesce."),
    ],
)  # fmt: skip
def test_i_and_my_become_the_user(said: str, fact: str) -> None:
    assert read(said) == [fact]


def test_a_named_speaker_takes_the_place_of_i() -> None:
    assert read("Ich mag mein Rad.", "Jonas") == ["Jonas mag Jonas' Rad."]
    assert read("Vivo en Sevilla.", "Mia") == ["Mia vive en Sevilla."]


@pytest.mark.parametrize(
    "said",
    [
        "Der Chef sagt, ich bin zu spät.",
        "Ich meine, dass es regnet.",
        "Mir gefällt Jazz.",
        "Er rief: „Ich komme.“",
        "Mon frère Léo habite à Nice.",
        "Paul m'a vu.",
        "Trabajo de campo terminado.",
        "Mi tocayo vive en León.",
        "Sono stati aggiornati i server.",
        "Ana mi ha visto.",
    ],
)
def test_where_it_is_not_safe_the_sentence_keeps_its_words(said: str) -> None:
    assert read(said) == [said]


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("Ich fahre seit letztem Jahr Rad.", "Ich fahre seit 2025 Rad."),
        ("Bis morgen ist der Bericht fertig.", "Bis 2026-03-05 ist der Bericht fertig."),
        ("Die Frist ist bis nächste Woche.",
         "Die Frist ist bis nächste Woche (gesagt am 2026-03-04)."),
        ("Ana kommt kommenden Freitag.", "Ana kommt am 2026-03-06."),
        ("Wir haben es in drei Tagen gelernt.", "Wir haben es in drei Tagen gelernt."),
        ("Ana ist gestern Abend angekommen.", "Ana ist am Abend des 2026-03-03 angekommen."),
        ("Nächsten Monat beginnt der Kurs.", "Im April 2026 beginnt der Kurs."),
        ("Am Morgen ist der Kurs.", "Am Morgen ist der Kurs."),
        ("Depuis l'année dernière, elle vit seule.", "Depuis 2025, elle vit seule."),
        ("Il faut finir avant demain.", "Il faut finir avant le 2026-03-05."),
        ("Il y a trois jours de congé.", "Il y a trois jours de congé."),
        ("Elle est arrivée il y a deux mois.", "Elle est arrivée en janvier 2026."),
        ("La fiesta es mañana por la tarde.", "La fiesta es en la tarde del 2026-03-05."),
        ("Hoy en día todo es caro.", "Hoy en día todo es caro."),
        ("El mes pasado la cuenta fue alta.", "En febrero de 2026 la cuenta fue alta."),
        ("La consegna è fino a domani.", "La consegna è fino al 2026-03-05."),
        ("Quest'anno il corso è breve.", "Nel 2026 il corso è breve."),
        ("Ha detto «torno domani» e basta, non ieri.",
         "Ha detto «torno domani» e basta, non il 2026-03-03."),
    ],
)  # fmt: skip
def test_dates_become_absolute_or_get_a_note(said: str, dated: str) -> None:
    assert absolute(said, WEDNESDAY) == dated


def test_the_last_friday_is_plain_only_where_both_readings_agree() -> None:
    said = "Letzten Freitag war frei."
    assert absolute(said, WEDNESDAY) == "Am 2026-02-27 war frei."
    saturday = date(2026, 3, 7)
    assert absolute(said, saturday) == "Letzten Freitag (gesagt am 2026-03-07) war frei."


@pytest.mark.parametrize(
    "said",
    [
        "Kannst du mir helfen",
        "Wie heißt der Port",
        "Herzlichen Dank für alles!",
        "Guten Abend, Frau Weber.",
        "Comment s'appelle ta sœur",
        "Pourrais-tu vérifier les tests ?",
        "Bonne journée !",
        "Cómo se llama el puerto",
        "Por favor, revisa el informe.",
        "¡Hola, Ana!",
        "Com'è il tempo",
        "Per favore, controlla i test.",
        "Buona giornata!",
    ],
)
def test_greetings_questions_and_orders_make_no_facts(said: str) -> None:
    assert read(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Quando è finito il corso, Ana è partita.",
        "Wie besprochen, kommt Ana um acht.",
        "Nein sagen fällt Ana schwer.",
        "Doch Ana wohnt in Wien.",
        "Come sempre, il treno è in ritardo.",
        "Was Ana mag, ist Tee.",
    ],
)
def test_what_only_begins_like_one_is_a_statement(said: str) -> None:
    assert len(read(said)) == 1


def test_languages_are_told_apart_by_small_words() -> None:
    assert language("Ich wohne in Graz.") == "de"
    assert language("Il habite à Lyon.") == "fr"
    assert language("Me and Ana like tea.") == "en"
    assert language("Port 8080") == "en"
    assert language("我住在北京。") == ""


@given(
    st.lists(
        st.sampled_from(
            "ich Ich mein wohne gestern nächsten Freitag je J'ai mon ma hier yo mi Me me gusta "
            'mañana sono Mi mio domani vivo fa 3 tage in vor , . " « é que dass non no'.split()
        ),
        max_size=12,
    ),
    st.sampled_from(["de", "fr", "es", "it"]),
)
def test_any_words_are_read_without_error(words: list[str], tongue: str) -> None:
    text = " ".join(words)
    assert isinstance(about(text, tongue, "User"), str)
    assert about(about(text, tongue, "User"), tongue, "User").count("User") >= text.count("User")
    extract_claims(text, said_on=WEDNESDAY)


def test_the_labelled_texts_are_read_right() -> None:
    result = run_extraction("dev", Settings())
    assert result["texts"] == 70
    assert result["right"] == 70, result["wrong"]
    assert extraction_lines(result)[-1].split() == ["all", "70", "70"]


def test_the_suite_writes_a_result(tmp_path: Path) -> None:
    assert main(["extraction", "--split", "dev", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "extraction_dev.json").exists()
