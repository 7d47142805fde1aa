"""A text beside its translation: a faithful one agrees, and deviations are found."""

from __future__ import annotations

import re
from gettext import GNUTranslations

import pytest
from django.conf import settings

from content.comparison.agreement.figures import find_figures
from content.comparison.agreement.text_agreement import (
    compare_links,
    compare_texts,
    detect_language,
)

FAITHFUL = [
    (
        "en",
        "de",
        "Two weeks before the event we send you an e-mail with all the details.",
        "Zwei Wochen vor der Veranstaltung schicken wir Ihnen eine E-Mail mit allen Einzelheiten.",
    ),
    (
        "en",
        "de",
        "Don't forget to save your changes.",
        "Denken Sie daran, Ihre Änderungen zu speichern.",
    ),
    (
        "en",
        "de",
        "The shop is open Monday to Friday from 9 a.m. to 5:30 p.m.",
        "Das Geschäft ist Montag bis Freitag von 9 bis 17:30 Uhr geöffnet.",
    ),
    (
        "en",
        "fr",
        "The shop is open Monday to Friday from 9 a.m. to 5:30 p.m.",
        "Le magasin est ouvert du lundi au vendredi de 9 h à 17 h 30.",
    ),
    (
        "en",
        "es",
        "The shop is open Monday to Friday from 9 a.m. to 5:30 p.m.",
        "La tienda abre de lunes a viernes de 9:00 a 17:30 horas.",
    ),
    ("en", "de", "It costs €1,000.50 a year.", "Es kostet 1.000,50 € im Jahr."),
    ("en", "fr", "It costs €1,000.50 a year.", "Cela coûte 1 000,50 € par an."),
    (
        "en",
        "es",
        "More than 2.5 million people visited us in 2025.",
        "Más de 2,5 millones de personas nos visitaron en 2025.",
    ),
    (
        "en",
        "de",
        "More than 2.5 million people visited us in 2025.",
        "Mehr als 2,5 Millionen Menschen besuchten uns 2025.",
    ),
    (
        "en",
        "fr",
        "More than 2.5 million people visited us in 2025.",
        "Plus de 2,5 millions de personnes nous ont rendu visite en 2025.",
    ),
    (
        "en",
        "de",
        "Born on March 5, 1979 in Vienna, Anna Keller studied in Paris.",
        "Anna Keller, geboren am 5. März 1979 in Wien, studierte in Paris.",
    ),
    (
        "en",
        "fr",
        "Born on March 5, 1979 in Vienna, Anna Keller studied in London.",
        "Née le 5 mars 1979 à Vienne, Anna Keller a étudié à Londres.",
    ),
    (
        "en",
        "es",
        "Born on March 5, 1979 in Vienna, Anna Keller studied in London.",
        "Nacida el 5 de marzo de 1979 en Viena, Anna Keller estudió en Londres.",
    ),
    ("en", "de", "Yes, you can cancel at any time.", "Ja, Sie können jederzeit kündigen."),
    ("en", "de", "No. You need an account first.", "Nein. Sie brauchen zuerst ein Konto."),
    ("en", "de", "No charge for children under six.", "Kinder unter sechs Jahren sind frei."),
    ("en", "fr", "Please do not hesitate to contact us.", "N'hésitez pas à nous contacter."),
    ("en", "es", "Feel free to contact us.", "No dude en ponerse en contacto con nosotros."),
    ("en", "de", "Feel free to contact us.", "Zögern Sie nicht, uns zu kontaktieren."),
    (
        "en",
        "de",
        "You cannot publish a post without a title.",
        "Ohne Titel können Sie keinen Beitrag veröffentlichen.",
    ),
    ("en", "de", "Both editors can see it at once.", "Beide Redakteure können es sofort sehen."),
    (
        "en",
        "de",
        "The two of them met in the early 1990s.",
        "Die beiden trafen sich Anfang der 1990er Jahre.",
    ),
    (
        "en",
        "fr",
        "The two of them met in the early 1990s.",
        "Tous deux se sont rencontrés au début des années 1990.",
    ),
    ("en", "es", "One of the three modules is missing.", "Falta uno de los tres módulos."),
    (
        "en",
        "de",
        "The first step takes about half an hour, the second one a bit longer.",
        "Der erste Schritt dauert etwa eine halbe Stunde, der zweite etwas länger.",
    ),
    (
        "en",
        "fr",
        "In the 21st century, 30 percent of all homes use it.",
        "Au XXIe siècle, 30 % des foyers l'utilisent.",
    ),
    (
        "en",
        "de",
        "Hello {name}, you have %(count)s new messages in {{ inbox }}.",
        "Hallo {name}, Sie haben %(count)s neue Nachrichten in {{ inbox }}.",
    ),
    (
        "en",
        "de",
        "PostgreSQL and iPhone users need at least 4 GB of memory.",
        "PostgreSQL- und iPhone-Nutzer brauchen mindestens 4 GB Speicher.",
    ),
    ("en", "fr", "You need at least 4 GB of memory.", "Il faut au moins 4 Go de mémoire."),
    ("en", "de", "at most ten files per post", "höchstens zehn Dateien pro Beitrag"),
    ("en", "es", "at most ten files per post", "como máximo diez archivos por entrada"),
    (
        "en",
        "de",
        "The meeting is on Thursday, 12 November at noon.",
        "Das Treffen ist am Donnerstag, dem 12. November, mittags.",
    ),
    (
        "de",
        "en",
        "Der Kurs dauert drei Tage und kostet 120 Euro.",
        "The course takes three days and costs 120 euros.",
    ),
    ("de", "fr", "Wir haben montags geschlossen.", "Nous sommes fermés le lundi."),
    ("de", "en", "Das Museum ist nicht barrierefrei.", "The museum is not wheelchair accessible."),
    (
        "fr",
        "en",
        "Il n'y a plus de places pour le concert du 14 juillet.",
        "There are no more seats for the concert on 14 July.",
    ),
    (
        "fr",
        "de",
        "Ne fermez jamais cette fenêtre pendant l'enregistrement.",
        "Schließen Sie dieses Fenster nie während des Speicherns.",
    ),
    ("es", "en", "No se admiten perros.", "Dogs are not allowed."),
    (
        "es",
        "de",
        "El curso cuesta ciento veinte euros y dura dos semanas.",
        "Der Kurs kostet hundertzwanzig Euro und dauert zwei Wochen.",
    ),
    (
        "en",
        "de",
        "Version 3.12 supports 1,500 items, see https://en.wikipedia.org/wiki/CMS.",
        "Version 3.12 unterstützt 1.500 Einträge, siehe https://de.wikipedia.org/wiki/CMS.",
    ),
    (
        "en",
        "de",
        "A fortnight later the committee met again.",
        "Vierzehn Tage später traf sich der Ausschuss erneut.",
    ),
    (
        "en",
        "fr",
        "Bring two photos and your passport; we are open 24/7.",
        "Apportez deux photos et votre passeport ; nous sommes ouverts 24 h/24 et 7 j/7.",
    ),
    ("en", "de", "May I bring my dog?", "Darf ich meinen Hund mitbringen?"),
    ("en", "de", "We reply within one business day.", "Wir antworten innerhalb eines Werktages."),
    (
        "en",
        "de",
        "Nobody else can see your drafts until you publish them.",
        "Niemand sonst sieht Ihre Entwürfe, bis Sie sie veröffentlichen.",
    ),
    ("en", "de", "Only admins can delete users.", "Nur Administratoren können Benutzer löschen."),
    (
        "en",
        "fr",
        "Only admins can delete users.",
        "Seuls les administrateurs peuvent supprimer des utilisateurs.",
    ),
    (
        "en",
        "de",
        "Unpublished posts are not shown in search.",
        "Nicht veröffentlichte Beiträge werden in der Suche nicht angezeigt.",
    ),
    (
        "en",
        "de",
        "The two-factor code has six digits and expires after 30 seconds.",
        "Der Zwei-Faktor-Code hat sechs Ziffern und läuft nach 30 Sekunden ab.",
    ),
    (
        "en",
        "es",
        "Call us on +49 30 123456 before 6 p.m.",
        "Llámenos al +49 30 123456 antes de las 18:00.",
    ),
    (
        "en",
        "es",
        "The second edition appeared twenty-five years ago.",
        "La segunda edición apareció hace veinticinco años.",
    ),
    (
        "en",
        "fr",
        "Ninety-seven of a hundred readers agreed.",
        "Quatre-vingt-dix-sept lecteurs sur cent étaient d'accord.",
    ),
    (
        "en",
        "de",
        "Every third visitor comes back twice a year.",
        "Jeder dritte Besucher kommt zweimal im Jahr wieder.",
    ),
    (
        "en",
        "fr",
        "Every third visitor comes back twice a year.",
        "Un visiteur sur trois revient deux fois par an.",
    ),
    ("en", "de", "Children under 12 pay half.", "Kinder unter 12 Jahren zahlen die Hälfte."),
    (
        "en",
        "de",
        "What if I do not like it? Then send it back within 14 days.",
        "Und wenn es mir nicht gefällt? Dann schicken Sie es innerhalb von zwei Wochen zurück.",
    ),
    ("en", "de", "It takes 90 minutes.", "Es dauert anderthalb Stunden."),
]
UNFAITHFUL = [
    ("en", "de", "Two weeks before the event", "Drei Wochen vor der Veranstaltung", "number"),
    ("en", "de", "Two weeks before the event", "Zwei Tage vor der Veranstaltung", "unit"),
    ("en", "de", "Yes, you can cancel at any time.", "Nein, Sie können nicht kündigen.", "answer"),
    ("en", "fr", "Yes", "Non", "answer"),
    ("en", "es", "No", "Sí", "answer"),
    ("en", "de", "The garden is open on Mondays.", "Der Garten ist dienstags geöffnet.", "date"),
    ("en", "de", "It costs €1,000.50 a year.", "Es kostet 1.000.50 € im Jahr.", "price"),
    ("en", "de", "It costs 20 euros.", "Es kostet 200 Euro.", "price"),
    ("en", "de", "It costs 20 euros.", "Es kostet 20 Dollar.", "unit"),
    ("en", "de", "You must not open the window.", "Sie müssen das Fenster öffnen.", "negation"),
    ("en", "fr", "The water is safe to drink.", "L'eau n'est pas potable.", "negation"),
    ("en", "de", "The water is drinkable here.", "Das Wasser ist hier nicht trinkbar.", "negation"),
    ("en", "es", "You must not open the window.", "Debe abrir la ventana.", "negation"),
    ("en", "de", "Hello {name}", "Hallo {nombre}", "placeholder"),
    ("en", "de", "You have %(count)s messages", "Sie haben Nachrichten", "placeholder"),
    ("en", "fr", "Open at 3 p.m.", "Ouvert à 3 h", "date"),
    ("en", "de", "on March 5, 2026", "am 6. März 2026", "date"),
    ("en", "de", "on March 5, 2026", "am 5. Mai 2026", "date"),
    ("en", "de", "at most ten files", "mindestens zehn Dateien", "number"),
    ("en", "de", "x ≤ 5", "x ≥ 5", "number"),
    ("en", "fr", "Anna Keller wrote it.", "Anna Schmidt l'a écrit.", "name"),
    ("en", "de", "Anna Keller wrote it.", "Anna Kellner hat es geschrieben.", "name"),
    ("en", "de", "It runs on PostgreSQL.", "Es läuft auf MySQL.", "name"),
    (
        "en",
        "de",
        "The course takes place in our rooms and you can bring a friend with you.",
        "The course takes place in our rooms and you can bring a friend with you.",
        "language",
    ),
    (
        "en",
        "de",
        "The course takes place in our rooms and you can bring a friend.",
        "El curso tiene lugar en nuestras salas y puede traer a un amigo.",
        "language",
    ),
    (
        "en",
        "de",
        "Ten of twelve visitors liked it very much, and all of them said that they would come back next year.",
        "Zehn von zwölf kommen wieder.",
        "length",
    ),
    (
        "en",
        "de",
        "Ninety-seven of a hundred readers agreed.",
        "Neunundsiebzig von hundert Lesern stimmten zu.",
        "number",
    ),
    ("en", "es", "twenty-five years", "veintiséis años", "number"),
    ("en", "de", "The second edition", "Die dritte Auflage", "number"),
    ("en", "de", "Store it in a cool place for three months", "Drei Wochen kühl lagern", "unit"),
]


@pytest.mark.parametrize(("source_locale", "target_locale", "source", "target"), FAITHFUL)
def test_a_faithful_translation_agrees(
    source_locale: str, target_locale: str, source: str, target: str
) -> None:
    assert compare_texts(source, target, source_locale, target_locale) == []


@pytest.mark.parametrize(("source_locale", "target_locale", "source", "target", "kind"), UNFAITHFUL)
def test_what_a_translation_says_otherwise_is_found(
    source_locale: str, target_locale: str, source: str, target: str, kind: str
) -> None:
    found = compare_texts(source, target, source_locale, target_locale)

    assert kind in {one.kind for one in found}


def test_both_sides_are_named() -> None:
    [found] = compare_texts("Two ways in", "Drei Wege hinein", "en", "de")

    assert (found.kind, found.source, found.target) == ("number", "Two", "Drei")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("/guide", "/de/anleitung"),
        ("#prices", "#preise"),
        (
            "https://en.wikipedia.org/wiki/CMS",
            "https://de.wikipedia.org/wiki/Content-Management-System",
        ),
        ("https://example.com/en/help", "https://example.com/de/hilfe"),
        ("http://example.com/a", "https://www.example.com/a/"),
        ("mailto:info@example.com", "mailto:info@example.com"),
    ],
)
def test_a_link_to_the_same_in_the_other_language_agrees(source: str, target: str) -> None:
    assert list(compare_links([source], [target])) == []


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("https://coffee.shop/beans", "https://coffee.support/beans"),
        ("https://example.com/pay/us", "https://example.com/pay/them"),
        ("/guide", "https://evil.example/guide"),
        ("mailto:info@example.com", "mailto:info@example.org"),
        ("https://alice.github.io/", "https://mallory.github.io/"),
        ("https://python.org", ""),
    ],
)
def test_a_link_to_another_place_does_not_agree(source: str, target: str) -> None:
    [found] = compare_links([source], [target] if target else [])

    assert (found.kind, found.source, found.target) == ("link", source, target)


def test_links_may_change_their_order() -> None:
    assert list(compare_links(["https://a.example", "/b"], ["/de/b", "https://a.example"])) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("This is the text of a page that is read by all of us.", "en"),
        ("Das ist der Text einer Seite, die von uns allen gelesen wird.", "de"),
        ("C'est le texte d'une page qui est lue par nous tous.", "fr"),
        ("Este es el texto de una página que todos nosotros leemos.", "es"),
        ("PostgreSQL, Django, Celery, Redis, Python, Linux", ""),
        ("Short text", ""),
    ],
)
def test_a_language_is_known_by_its_commonest_words(text: str, language: str) -> None:
    assert detect_language(text, ("de", "en", "es", "fr")) == language


def catalogue() -> list[tuple[str, str]]:
    """Return the English texts of the product with their German translations."""
    path = settings.BASE_DIR / "locale" / "de" / "LC_MESSAGES" / "django.mo"
    with path.open("rb") as file:
        known = GNUTranslations(file)._catalog  # type: ignore[attr-defined]  # nothing else lists them
    texts = [(en, de) for en, de in known.items() if isinstance(en, str) and en]
    return [(en.partition("\x04")[2] or en, de) for en, de in texts]


def test_the_texts_of_the_product_agree_with_their_translation() -> None:
    pairs = catalogue()

    wrong = [pair for pair in pairs if compare_texts(*pair, "en", "de")]

    assert len(pairs) > 3000
    assert len(wrong) / len(pairs) < 0.005, wrong


def test_most_removed_negations_in_product_texts_are_detected() -> None:
    pairs = [
        (en, de.replace("nicht ", ""))
        for en, de in catalogue()
        if len(re.findall(r"\bnot\b|n’t\b", en)) == 1 and de.count("nicht ") == 1
    ]

    found = [
        one for one in pairs if "negation" in {two.kind for two in compare_texts(*one, "en", "de")}
    ]

    assert len(pairs) > 100
    assert len(found) / len(pairs) > 0.75


@pytest.mark.parametrize(
    "part", ["1 ", "1:00-", "XVI ", "1\u00a0000", "two ", "at most 5 ", "{a", "a@"]
)
def test_a_text_of_nothing_but_figures_is_read_in_bounds(part: str) -> None:
    text = part * 5000

    assert len(find_figures(text, "en")) <= 200
    compare_texts(text, text[1:], "en", "de")
