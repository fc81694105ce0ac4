"""Words by which German, French, Spanish and Italian greet, ask and order. Only patterns."""

from __future__ import annotations

from typing import Final

__all__ = ["ASKS", "GREETS", "NOTED", "ORDERS", "REQUESTS", "THANKS"]

GREETS: Final = (
    r"hallo(?: zusammen)?|guten (?:morgen|tag|abend)|gute nacht|moin|servus|grüß gott|"
    r"danke(?: schön| sehr| dir| ihnen)?|vielen dank|besten dank|bitte(?: schön| sehr)?|"
    r"tschüss|tschüß|auf wiedersehen|bis (?:bald|morgen|später|dann)|ja|nein|doch|genau|stimmt|"
    r"alles klar|in ordnung|prima|super|"
    r"bonjour(?: à tous)?|bonsoir|bonne (?:nuit|journée|soirée)|salut|coucou|"
    r"merci(?: beaucoup| bien| d['’]avance)?|au revoir|à (?:bientôt|demain|plus tard|plus)|oui|non|"
    r"d['’]accord|très bien|parfait|de rien|je vous en prie|"
    r"hola|buenos días|buenas(?: tardes| noches)?|(?:muchas |mil )?gracias|de nada|adiós|"
    r"hasta (?:luego|mañana|pronto|la vista)|sí|vale|de acuerdo|perfecto|claro|"
    r"ciao|buongiorno|buonasera|buona (?:notte|giornata|serata)|salve|"
    r"grazie(?: mille| tante)?|prego|arrivederci|a (?:domani|presto|dopo)|sì|va bene|d['’]accordo|"
    r"perfetto|certo"
)
"""By themselves, or with a comma before something else."""

THANKS: Final = (
    r"(?:vielen |besten |herzlichen )?dank(?:e)?(?: dir| ihnen| euch)? für\b|"
    r"merci(?: beaucoup)? (?:pour|d['’]avoir|de m['’]avoir)\b|"
    r"(?:muchas |mil )?gracias por\b|grazie(?: mille| tante)? (?:per|di)\b|"
    r"thank(?:s| you)(?: so much| very much| a lot)? for\b"
)
"""Thanks with what for; these make no fact as a whole."""

ASKS: Final = (
    r"(?:wo|was|wer|wen|wem|wann|warum|wieso|wie|woher|wohin|welche[rsmn]?|wie ?viele?) (?:\w+ )?"
    r"(?:ist|sind|war|waren|hat|haben|hatte|kann|können|soll|muss|heißt|heiße|heißen|wohnt|wohne|"
    r"kostet|lautet|macht|mache|geht|steht|liegt|gibt|wird|arbeitet|arbeite|kommt|fährt)\b|"
    r"(?:kannst|könntest|würdest|willst|magst|hast|bist|weißt) du\b|"
    r"(?:können|könnten|würden|haben|wissen) sie (?!die\b|das\b)|"
    r"(?:kann|darf|soll|muss|habe|bin) ich\b(?=.*\?)|"
    r"est-ce que?\b|est-ce qu['’]|qu['’]est-ce\b|"
    r"(?:où|quand|comment|pourquoi|combien|qui|que|quel(?:le)?s?) "
    r"(?:est|sont|était|habite|travaille|as|a-t|ont|coûte|fait|s['’]appelle|va|vas|peut|peux|dois|"
    r"puis)\b|"
    r"\w+-(?:tu|vous|t-il|t-elle|t-on|je)\b|"
    r"(?:dónde|cuándo|cómo|cuál(?:es)?|quién(?:es)?|cuánt[oa]s?|por qué|qué)\b|"
    r"(?:puedes|podrías|sabes|tienes|quieres|me puedes|me podrías|podría usted|puede usted)\b|"
    r"(?:dove|quando|come|perché|chi|cosa|che cosa|quale?|quanto|quanti) "
    r"(?:è|sono|abita|abito|lavora|si chiama|costa|ha|hai|fa|va|posso|devo|viene|sta|stai)\b|"
    r"(?:dov|com|cos|qual|quand|chi)['’ ]?è\b|"
    r"(?:puoi|potresti|sai|mi puoi|mi potresti|può|potrebbe) (?!darsi\b|essere\b)"
)

REQUESTS: Final = (
    r"|bitte|s['’]il (?:te|vous) pla[iî]t,?|merci de|veuillez|por favor,?|per favore,?|"
    r"per piacere,?|(?:kannst|könntest) du(?: bitte)?|(?:können|könnten) sie(?: bitte)?|"
    r"(?:peux-tu|pourrais-tu|pouvez-vous|pourriez-vous)|(?:puedes|podrías)|(?:puoi|potresti)"
)
"""To be added to the alternatives of a request, which a space follows."""

ORDERS: Final = frozenset(
    "antworte antworten schreib schreibe benutze benutz verwende nutze sprich gib mach zeig zeige "
    "erkläre übersetze übersetz fasse fass suche such finde sag sage erinnere prüfe prüf lies "
    "erstelle lösche starte öffne vergiss kürze ändere korrigiere vergleiche "
    "réponds répondez écris écrivez utilise utilisez parle parlez donne donnez montre montrez "
    "explique expliquez traduis traduisez résume résumez fais faites cherche trouve vérifie "
    "vérifiez corrige supprime crée ouvre lance rappelle oublie compare ajoute "
    "responde escribe utiliza dame muestra explica traduce resume busca haz dime revisa "
    "corrige borra crea abre recuérdame olvida escríbeme muéstrame explícame búscame tradúceme "
    "rispondi scrivi dammi mostra mostrami spiega spiegami traduci riassumi cerca "
    "controlla correggi cancella apri ricordami dimentica scrivimi dimmi fammi cercami trova "
    "confronta aggiungi".split()
)
"""Imperatives that are hardly ever anything else at the start of a sentence."""

NOTED: Final = (
    r"(?:bitte )?(?:merk(?:e)? dir|denk(?:e)? daran|beachte|notier(?:e)?)(?: bitte)?:|"
    r"(?:souviens-toi|note|notez|retiens|retenez|rappelle-toi|sache|sachez)(?: bien)? (?:que\b|:)|"
    r"(?:recuerda|ten en cuenta|apunta|anota)(?: por favor)?(?: que\b|:)|"
    r"(?:ricorda(?:ti)?|tieni presente|tieni a mente|annota|sappi)(?: che\b|:)"
)
"""Asks to remember what follows. German "dass" turns the words about and is not cut off."""
