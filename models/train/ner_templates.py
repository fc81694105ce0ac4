"""Frames and names from which more notes are made for training the GLiNER.

Names are common knowledge: companies, things people own, software, places, days. Frames say what
notes say, in five languages, with the places that names take in braces. The same name may stand for
different things (Orange the company, Python the snake), and only the frame tells.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Final

__all__ = ["NAMES", "made_note"]

_SLOT: Final = re.compile(r"\{(\w+)\}")


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


NAMES: Final[Mapping[str, Sequence[str]]] = {
    "person": _split(
        """
        Amira, Bashir, Chidi, Dagny, Eun-ji, Farouk, Gwen, Hamza, Ilse, Jovan, Kofi, Leila,
        Mirek, Nadia, Oksana, Piotr, Quentin, Ravi, Sinead, Tariq, Ursula, Vikram, Wanda,
        Xenia, Yusra, Zoltan, Marta Ruiz, Henrik Dahl, Aiko Tanabe, Owen Blythe, Fatou Diop,
        Luca Ferri, Jana Novak, Sofie Berg, Dr. Patel, Dr Lindgren, Mrs Ashworth, Mr.
        Kowalski, Professor Adeyemi, Frau Krüger, Herr Lang, Signora Conti, Señora Vidal,
        Mme Girard, Aunt Carol, Uncle Sipho, Grandpa Joe, Nonna Pina, Oma Trude, Rosie,
        Milo, Biscuit, Pepper, Ziggy, Rose, Will, Grace, Mark, Dawn, Faith, Jasmine,
        Sterling, Chase, Summer, Rusty, Ruby, Jade, Basil, Sage, Jean-Luc Moreau, María
        José, Søren Holm, Łukasz, Ngozi Okafor, J. R. Whitfield, Kim Min-jun, Björn, Zoë,
        O'Malley, D'Angelo, van Dijk, Théo, Anaïs, Gökhan, Nguyen Thi Lan
        """
    ),
    "organisation": _split(
        """
        Siemens, Nestlé, Apple, Amazon, Shell, Target, Gap, Deutsche Bahn, Lufthansa,
        Ryanair, Barclays, ING, Santander, UBS, Allianz, AXA, Bosch, Samsung, Sony, Toyota,
        Volvo, Airbus, Maersk, IKEA, Aldi, Lidl, Carrefour, Tesco, Walmart, Decathlon, Zara,
        H&M, DHL, UPS, Red Cross, WWF, UNICEF, NHS, BBC, Le Monde, El País, The Guardian,
        Der Spiegel, Oxford University, ETH Zürich, TU Delft, University of Ghent, MIT,
        Stanford, Max Planck Institute, City Council, Stadtwerke Kiel, Finanzamt Ulm,
        Volkshochschule, AOK, Techniker Krankenkasse, Poste Italiane, Banca Sella, Comune di
        Parma, Mairie de Nantes, Caja Rural, St Mary's Hospital, Charité, Clinica San Luca,
        Greenfield Primary School, Kita Regenbogen, Café Lindner, Trattoria da Nino, Bar
        Sport, Chez Paulette, Pizzeria Vesuvio, Blue Door Bakery, Harbour Dental, FC Porto,
        SV Werder, Rowing Club Thames, Chess Club Lyon, Mozilla Foundation, Linux
        Foundation, OpenAI, Anthropic, Google, Microsoft, Meta, Spotify, Stripe, Shopify,
        Cloudflare, Hetzner, OVH, JetBrains, Canonical, Red Hat, Nvidia, Intel, Northwind
        Traders, Larkspur Labs, Bluebird Logistics, Mason & Holt, Ferro Systems, Quill
        Studio, Ostrava Steel, Vale Insurance, Kestrel Bank, Tidewater Partners, Acorn
        Legal, Kanzlei Weber, Studio Marchetti, Notaría Gómez, Cabinet Lefèvre, Delta
        Airlines, Interpol, Eurostat, Ofcom, Rewe, Edeka
        """
    ),
    "place": _split(
        """
        Lisbon, Ghent, Nairobi, Osaka, Austin, Leipzig, Turin, Seville, Lyon, Basel, Gdańsk,
        Bergen, Cork, Porto, Tartu, Izmir, Accra, Hanoi, Lima, Quito, Perth, Oakland,
        Portland, Reading, Nice, Bath, Mobile, Split, Cologne, München, Wien, Roma, Milano,
        Napoli, Firenze, Sevilla, Bruxelles, Marseille, New York, San Jose, Cape Town, São
        Paulo, Buenos Aires, Lake Como, Lake Garda, Black Forest, Mont Blanc, Isle of Skye,
        Route 66, Canary Islands, Sicily, Bavaria, Tuscany, Provence, Catalonia, Scotland,
        Portugal, Norway, Ghana, Vietnam, Chile, Japan, Kreuzberg, Montmartre, Trastevere,
        Brooklyn, Soho, Camden, Hauptstraße 12, Via Roma 8, Rue Victor Hugo 3, Calle Mayor
        41, 17 Elm Street, Baker Street, Platform 9, Room 204, Building C, Riverside Park,
        Central Station, Terminal 2, Pier 39, Heathrow, Schiphol, Gare du Nord, Bahnhof
        Altona, Piazza Navona, Plaza Mayor, Villa Borghese, Hyde Park, North Sea, Danube
        """
    ),
    "product": _split(
        """
        iPhone, iPad, MacBook Pro, ThinkPad, Kindle, Galaxy S23, Pixel 8, PlayStation 5,
        Xbox, Nintendo Switch, Roomba, Dyson V11, Thermomix, Nespresso, KitchenAid, Golf,
        Fiat Panda, Tesla Model 3, Renault Zoe, Volvo V60, Toyota Corolla, Ford Transit,
        Brompton, Gore-Tex jacket, Birkenstocks, AirPods, Apple Watch, Fitbit, Garmin Edge,
        GoPro, Sonos, Alexa, Chromecast, Spotify, YouTube Premium, Duolingo, WhatsApp,
        Telegram, Signal, Slack, Zoom, Notion, Trello, Asana, Jira, Figma, Canva, Photoshop,
        Excel, PowerPoint, Gmail, Outlook, Dropbox, Google Drive, Google Maps, Strava,
        Headspace, Uber, Airbnb, Revolut, PayPal, ChatGPT, Claude, Copilot, Grammarly,
        Obsidian, Evernote, 1Password, Nutella, Red Bull, Playmobil, Monopoly, Scrabble,
        Aspirin, Ibuprofen, Ventolin, Epson printer, Canon EOS R6, Nikon Z5, Leica, Ikea
        Billy, Weber grill, Bosch drill, Makita, Yamaha P45, Fender Stratocaster, Casio,
        Swatch, Ray-Bans, Moleskine, Tupperware, Post-its
        """
    ),
    "project": _split(
        """
        Bluebird, Nightjar, Lighthouse, Project Atlas, Operation Sunrise, Phoenix, Orion,
        Kestrel, Marigold, Evergreen, Sandstone, Tumbleweed, Foxglove, Driftwood, Compass,
        Beacon, Harvest, Sparrow, Granite, Cobalt, Juniper, Willow, Falcon, Titan, Nova,
        Pegasus, Aurora, Apollo, lantern, paperboat, tollgate, woodpecker, snowglobe,
        redwood, saltmarsh, kite, anvil, harbor, magpie, quarry, loom, ferry, thicket,
        puddle, acorn, ember, cinder, meadowlark, hedgehog, invoice-bot, ledger-api,
        mail-relay, auth-gateway, data-pump, shop-frontend, billing_core, report-builder,
        search_index, image-cache, photo-sync, notes-app, sensor-hub, pay-engine,
        team-calendar, homepage-v2, Winter Catalogue, Green Roof, Brand Refresh, Zero Paper,
        One Login
        """
    ),
    "technology": _split(
        """
        Python, Rust, Go, Java, Kotlin, Swift, TypeScript, JavaScript, C++, Ruby, PHP,
        Elixir, Haskell, Scala, R, SQL, Bash, React, Vue, Svelte, Angular, Next.js, Node.js,
        Deno, Django, Flask, FastAPI, Rails, Laravel, Spring Boot, Express, Tailwind,
        Postgres, PostgreSQL, MySQL, MariaDB, SQLite, MongoDB, Redis, Kafka, RabbitMQ,
        Elasticsearch, DuckDB, ClickHouse, Neo4j, Docker, Kubernetes, Helm, Terraform,
        Ansible, Nginx, Caddy, Traefik, Jenkins, GitHub Actions, GitLab CI, Git, AWS,
        Lambda, S3, Azure, GCP, Linux, Debian, Ubuntu, Fedora, NixOS, Windows 11, macOS,
        Android, iOS, Firefox, Chrome, Safari, Vim, Emacs, VS Code, PyCharm, tmux, zsh,
        pytest, mypy, ruff, uv, pip, npm, pnpm, Vite, webpack, PyTorch, TensorFlow, NumPy,
        pandas, Spark, Airflow, dbt, Grafana, Prometheus, OAuth, SAML, GraphQL, gRPC, REST,
        WebSockets, Bluetooth, Zigbee, TLS, HTTP/2, JSON, YAML, Protobuf, LaTeX, Markdown,
        Unicode, ONNX, LLaMA, GPT-4, Whisper, BERT, Raspberry Pi, Arduino, ESP32, Wayland,
        systemd, PostGIS, Alembic, SQLAlchemy, Celery, Selenium, Playwright
        """
    ),
    "date": _split(
        """
        Monday, Tuesday, next Friday, last Sunday, 3 May, 14 June 2025, June 2026, 2024,
        2019, 1987, 2025-11-03, 2026-02-28, 12/10/2025, Q3, Q1 2027, H2, next week, this
        month, last year, tomorrow, yesterday, today, Christmas, Easter, New Year's Eve,
        summer 2023, the end of March, mid-October, spring, autumn, winter, the weekend,
        January, September, Feb 2, Dec 2024, the 5th, 1 April, 30 November 2026, this year,
        next spring, last autumn, the 1990s, Thanksgiving
        """
    ),
    "date_de": _split(
        "Montag, Freitag, nächste Woche, 3. Mai, Juni, gestern, morgen, Ostern, 2024"
    ),
    "date_it": _split(
        "lunedì, giovedì, domani, ieri, maggio, il 3 giugno, Natale, l'anno scorso, 2024"
    ),
    "date_es": _split("lunes, mañana, ayer, el viernes, mayo, el 4 de julio, Navidad, 2024"),
    "date_fr": _split("lundi, demain, hier, mai, le 4 juillet, Noël, l'an dernier, vendredi, 2024"),
}

_FRAMES: Final = tuple(
    line.strip()
    for line in """
    {person} works at {organisation} since {date}.
    {person} left {organisation} for {organisation} in {date}
    {person} joined {organisation}
    {person} and {person} met at {organisation} in {place}.
    {person} bought a {product} on {date}.
    {person}'s {product} is broken, repair at {organisation}
    new {product} for {person}, arrives {date}
    {person} stopped using {product} in {date}
    {product} subscription renews {date}
    sold the {product}, bought a {product} instead
    the {product} is in {place} until {date}
    {person} prefers {product} over {product}.
    uses {product} for notes and {product} for calls
    notes are kept in {product}
    the {product} of {person} needs new tyres
    {person} hates {product}, use {product}
    {person} plays on the {product} every {date}
    warranty of the {product} ends {date}, bought at {organisation}
    {person} moved from {place} to {place} in {date}.
    {person} lives in {place}
    flight to {place} with {organisation} on {date}
    {organisation} opens an office in {place}
    {organisation} is based in {place}.
    {organisation} sent a reminder on {date}
    {organisation} raised prices
    appointment at {organisation}, {place}, {date}
    {person} has an account with {organisation}
    invoice from {organisation} is still open
    dinner at {organisation} with {person} and {person}
    {person} teaches at {organisation}
    {person} was treated at {organisation} last {date}
    insurance is with {organisation} now
    {organisation} and {organisation} are partners on {project}
    the client of {project} is {organisation}
    {project} is written in {technology}
    {project} uses {technology} and {technology}.
    {project}: switch from {technology} to {technology}
    {project} and {project} share a database
    {project} is blocked by {person}
    {person} owns {project}
    {person} leads {project} at {organisation}.
    {project} goes live on {date}
    {project} was renamed to {project}
    {project} runs on {technology} in {place}
    deploy {project} with {technology}
    {technology} tests in {project} are flaky
    release of {project} moved to {date}, says {person}
    the budget of {project} was cut by {organisation}
    {person} has to approve {project} first
    in {project} we log with {technology}
    move {project} off {technology}
    {technology} only, no {technology}
    {person} knows {technology}, {technology} and {technology}
    {person} is learning {technology}
    we dropped {technology} for {technology}
    {technology} was slower than {technology}
    prefers {technology} over {technology} for scripts
    {technology} upgrade planned for {date}
    we pay {organisation} for {technology}
    {technology} is down again
    {person}'s laptop runs {technology}
    {person} ({organisation}) reviews {project} every {date}
    {person} turns 40 on {date}
    {person} is allergic to nuts and cats
    {person} is {person}'s sister
    {person}, our cat, is ill
    the dog is called {person}
    {person} bit the neighbour
    pick up {person} from school on {date}
    call {person} re {project}
    {person}: no meetings before noon
    stand-up {date}: {person} ill, {person} late
    {project} is due {date}
    {date}: {person} in {place}
    holiday in {place} from {date}
    {person} grew up in {place}, studied at {organisation}
    trip to {place} in {date} with {person} and the kids
    parking at {place} is free
    {person} meets {person} at {place}
    keys are with {person} at {place}
    send the {product} to {place}
    the team in {place} uses {technology}
    {person} reads books about {place}
    {organisation} sponsors the fair in {place}
    {organisation} bought {organisation} in {date}
    {organisation} rejected the offer for {project}
    {person} wrote to {organisation} about {product}
    {person} wears {product} when running
    {person} gave {person} a {product} for {date}
    no {product} in the house, says {person}
    the {product} from {organisation} was returned
    {product} and {product} are enough for the kids
    {product} syncs with {product}
    backup on {product}, not on {product}
    {person} drinks tea
    the window in the hall is broken
    water the plants twice a week
    go through the list again before lunch
    hope it will be better soon
    prefers short answers
    dark mode everywhere
    the summer was too hot for tomatoes
    will mark the doors next time
    never push to main without review
    the report was good
    rusty nails in the box by the door
    bread with basil and sage
    {person} geht zu {organisation}
    {person} arbeitet seit {date_de} bei {organisation}.
    {person} wohnt in {place}
    Termin bei {organisation} am {date_de}
    {project} läuft auf {technology}
    {person} hat ein {product} gekauft
    Kein Fleisch für {person}.
    Die Rechnung von {organisation} kam {date_de}.
    {person} holt {person} von {organisation} ab
    Morgens keine Termine
    {person} lavora per {organisation}
    {person} è stata a {place} {date_it}
    {person} aspetta una risposta da {organisation}
    il {product} di {person} è rotto
    {project} usa {technology}
    niente riunioni la mattina
    {person} abita a {place} da {date_it}
    {person} trabaja en {organisation}
    {person} tiene un {product}
    {person} vive en {place} con {person}
    {project} está escrito en {technology}
    la cita con {organisation} es {date_es}
    no quiere café
    {person} a postulé chez {organisation} {date_fr}
    {person} habite à {place}
    rendez-vous chez {organisation} {date_fr}
    {person} a acheté une {product}
    {project} tourne sur {technology}
    pas de viande pour {person}
    """.splitlines()
    if line.strip()
)


def made_note(rng: random.Random) -> tuple[str, list[tuple[int, int, str]]]:
    """A note and its spans: start, end, label, in code points."""
    frame = rng.choice(_FRAMES)
    text, spans, at = "", [], 0
    for slot in _SLOT.finditer(frame):
        text += frame[at : slot.start()]
        kind = slot.group(1)
        name = rng.choice(NAMES[kind])
        spans.append((len(text), len(text) + len(name), kind.partition("_")[0]))
        text += name
        at = slot.end()
    return text + frame[at:], spans
