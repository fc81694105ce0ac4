"""French, Spanish and Italian sentences said of a name instead of the speaker. See `first_person`.

Verbs are changed by their endings where these are plain, and by tables of common verbs; "mon",
"mi" and "mio" become "de User" behind nouns whose article can be told.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "french",
    "italian",
    "leftover_french",
    "leftover_italian",
    "leftover_spanish",
    "spanish",
]

# French

leftover_french: Final = re.compile(
    r"\b(?:je|me|moi|mon|ma|mes|mienn?e?s?)\b|\b[jm]['’]", re.IGNORECASE
)
_FR_SUBJECT: Final = re.compile(
    r"\b(?:je |j['’])(?P<clitics>(?:(?:ne|me|te|le|la|les|lui|leur|y|en|vous) |[nmtl]['’])*)"
    r"(?P<verb>[^\W\d_]+)(?![\w-])",
    re.IGNORECASE,
)
_FR_VERBS: Final = {
    "suis": "est", "ai": "a", "vais": "va", "connais": "connaît", "plais": "plaît",
    "veux": "veut", "peux": "peut", "vaux": "vaut", "vaincs": "vainc", "nais": "naît",
}  # fmt: skip
_FR_ENDINGS: Final = (
    ("ais", "ait"), ("rai", "ra"), ("ois", "oit"), ("is", "it"), ("ds", "d"), ("ts", "t"),
    ("ns", "nt"), ("rs", "rt"), ("us", "ut"), ("e", "e"),
)  # fmt: skip
_FR_AFTER: Final = (
    r"(?=\s+(?:est|sont|était|étaient|a|ont|avait|s['’]|n['’]|ne\b|se\b|habite|vit|vivent|travaille|"
    r"aime|aiment|va|vont|vient|viennent|fait|font|dit|veut|peut|doit|joue|parle|étudie|préfère|"
    r"déteste|fonctionne|commence|part|et|ou|où|dans|sur|avec|chez|pour|depuis|qui|que)(?!\w)"
    r"|\s*[.,;:!?]|\s*$)"
)
_FR_OWN: Final = re.compile(
    r"\b(?P<before>(?:à|de|À|De)\s+)?(?P<own>[Mm](?:on|a|es))\s+"
    r"(?P<noun>(?:(?:petite?|grande?|nouvel(?:le)?|nouveau|vieux|vieille|ancien(?:ne)?|meilleure?|"
    r"premi(?:er|ère))s?\s+)?[a-zà-ÿœ][\w-]*(?:\s+d(?:e\s+|['’])[a-zà-ÿ][\w-]*)?)" + _FR_AFTER
)
_FR_MUTE_H: Final = ("homme", "hôtel", "histoire", "horaire", "habitude", "heure", "hobby")


def french(sentence: str, name: str) -> str | None:
    """A French sentence; None if a verb is not known."""
    unknown = False

    def subject(match: re.Match[str]) -> str:
        nonlocal unknown
        verb = _french_verb(match["verb"])
        if verb is None:
            unknown = True
            return match[0]
        clitics = re.sub(r"\bme ", "se ", match["clitics"])
        clitics = re.sub(r"\bm(?=['’])", "s", clitics)
        clitics = _elided(clitics, verb)
        return f"{name} {clitics}{verb}"

    changed = _FR_SUBJECT.sub(subject, sentence)
    changed = re.sub(
        r"\b(pour|chez|avec|sans|à|de|contre|selon) moi\b(?!-)", rf"\1 {name}", changed
    )
    changed = _FR_OWN.sub(lambda match: _french_own(match, name), changed)
    return None if unknown else changed


def _french_verb(verb: str) -> str | None:
    small = verb.casefold()
    if small in _FR_VERBS:
        return _FR_VERBS[small]
    for first, third in _FR_ENDINGS:
        if small.endswith(first):
            return small[: -len(first)] + third
    return None


def _elided(clitics: str, verb: str) -> str:
    """Clitics run together with a vowel: "je ne suis" is "n'est" of somebody else."""
    if verb[:1] in "aeéèêiouyœ" or verb.startswith("h"):
        return re.sub(r"\b(n|s|l)e $", r"\1'", clitics)
    return clitics


def _french_own(match: re.Match[str], name: str) -> str:
    noun, own = match["noun"], match["own"].casefold()
    vowel = noun[:1] in "aàâeéèêiîoôuœ" or noun.startswith(_FR_MUTE_H)
    if noun.startswith("h") and not vowel:
        return match[0]
    plural = own == "mes"
    article = "les " if plural else "l'" if vowel else "le " if own == "mon" else "la "
    before = (match["before"] or "").strip()
    capital = (before or match["own"])[:1].isupper()
    if before:
        joined = {"le ": {"à": "au ", "de": "du "}, "les ": {"à": "aux ", "de": "des "}}
        article = joined.get(article, {}).get(before.casefold(), f"{before.casefold()} {article}")
    written = f"{article}{noun} de {name}"
    return written[:1].upper() + written[1:] if capital else written


# Spanish

leftover_spanish: Final = re.compile(
    r"\b(?:yo|me|m[ií]|mis|conmigo|m[ií][oa]s?|soy|estoy|tengo|voy|hago|he|vivo|fui)\b",
    re.IGNORECASE,
)
_ES_AR: Final = (
    "trabajar viajar estudiar hablar comprar usar cocinar tocar llevar necesitar odiar amar cantar "
    "bailar nadar tomar desayunar cenar programar ganar pagar enseñar escuchar buscar llamar mudar "
    "levantar casar esperar cuidar practicar planear ahorrar fumar limpiar montar dejar terminar "
    "cambiar llegar entrar preparar adoptar alquilar visitar manejar quedar reservar gastar probar "
    "encontrar empezar jugar pensar acostar despertar cerrar graduar jubilar desarrollar"
).split()
_ES_ER_IR: Final = (
    "vivir comer correr beber escribir vender aprender deber creer asistir abrir recibir compartir "
    "decidir subir nacer conocer perder mover entender volver romper dormir preferir pedir seguir "
    "servir sentir salir"
).split()
_ES_PRESENT: Final = {
    "soy": "es", "estoy": "está", "tengo": "tiene", "voy": "va", "hago": "hace", "digo": "dice",
    "vengo": "viene", "pongo": "pone", "salgo": "sale", "veo": "ve", "doy": "da", "he": "ha",
    "puedo": "puede", "quiero": "quiere", "prefiero": "prefiere", "duermo": "duerme",
    "entiendo": "entiende", "sigo": "sigue", "pido": "pide", "sirvo": "sirve", "siento": "siente",
    "conozco": "conoce", "conduzco": "conduce", "juego": "juega", "pienso": "piensa",
    "empiezo": "empieza", "cierro": "cierra", "pierdo": "pierde", "vuelvo": "vuelve",
    "muevo": "mueve", "leo": "lee", "acuesto": "acuesta", "despierto": "despierta",
    "encuentro": "encuentra", "pruebo": "prueba", "llevo": "lleva", "crío": "cría",
    "fui": "fue", "hice": "hizo", "tuve": "tuvo", "estuve": "estuvo", "vine": "vino",
    "puse": "puso", "dije": "dijo", "pude": "pudo", "quise": "quiso", "supe": "supo",
    "traje": "trajo", "di": "dio", "vi": "vio", "leí": "leyó", "dormí": "durmió",
    "preferí": "prefirió", "pedí": "pidió", "seguí": "siguió", "creí": "creyó",
}  # fmt: skip
_ES_NOUNS_TOO: Final = frozenset(
    "trabajo uso juego estudio canto cambio gasto tomo camino pago como busco llamo creo nado "
    "viajo cuento encuentro prueba pruebo despierto vivo siento".split()
)
"""Forms that are nouns or others too: alone at the start they need a preposition or an article."""

_ES_GOES_ON: Final = re.compile(
    r" (?:en|como|para|con|desde|a|por|que|mucho|todos|cada|una?|el|la|los|las|mis?)\b"
)


def _spanish_verbs() -> dict[str, str]:
    table: dict[str, str] = {}
    for verb in _ES_AR:
        stem = verb[:-2]
        past = stem[:-1] + {"c": "qu", "g": "gu", "z": "c"}.get(stem[-1], stem[-1])
        table[f"{stem}o"] = f"{stem}a"
        table[f"{past}é"] = f"{stem}ó"
        table[f"{verb}é"] = f"{verb}á"
    for verb in _ES_ER_IR:
        stem = verb[:-2]
        table[f"{stem}o"] = f"{stem}e"
        table[f"{stem}í"] = f"{stem}ió"
        table[f"{verb}é"] = f"{verb}á"
    return table | _ES_PRESENT


_ES_VERBS: Final = _spanish_verbs()
_ES_LEAD: Final = (
    r"(?P<lead>(?:(?:el |en )?\d{4}(?:-\d\d-\d\d)?|la semana del \d{4}-\d\d-\d\d"
    r"|en \w+ de \d{4}|[^,;]{1,60}?\(dicho el \d{4}-\d\d-\d\d\)"
    r"|en la \w+ del \d{4}-\d\d-\d\d|hoy|ahora|siempre|nunca|también|ya|antes|actualmente"
    r"|normalmente|a veces|[^,;]{1,60},),? )?"
)
_ES_SUBJECT: Final = re.compile(
    rf"^{_ES_LEAD}(?P<yo>yo )?(?P<adverb>(?:ya|también|siempre|nunca) )?(?P<no>no )?"
    r"(?P<clitics>(?:me |te |lo |la |los |las |le |les )*)(?P<verb>[^\W\d_]+)\b",
    re.IGNORECASE,
)
_ES_LIKES: Final = re.compile(
    rf"^{_ES_LEAD}(?:a mí )?(?P<no>no )?me (?P<verb>gustan?|gustaría|gustaban?|encantan?|"
    r"interesan?|duelen?|molestan?|parecen?|preocupan?|falta)\b",
    re.IGNORECASE,
)
_ES_SECOND: Final = re.compile(r"(?P<joint>\b(?:y|pero|que) (?:no )?)(?P<verb>[^\W\d_]+)\b")
_ES_MALE: Final = frozenset(
    "padre hombre nombre coche jefe cumpleaños número correo perro gato hermano hijo abuelo tío "
    "primo novio marido esposo amigo vecino equipo trabajo proyecto apellido médico dentista "
    "restaurante portátil ordenador móvil teléfono piso color lenguaje idioma plan horario".split()
)
_ES_FEMALE: Final = frozenset(
    "madre mujer hermana hija abuela tía prima novia esposa amiga vecina jefa perra gata casa "
    "empresa pareja dirección clave contraseña oficina familia comida bebida ciudad bici bicicleta "
    "moto reunión cuenta edad médica doctora profesora clase habitación cita".split()
)
_ES_AFTER: Final = (
    r"(?=\s+(?:es|son|está|están|era|eran|fue|tiene|tienen|tenía|vive|viven|vivía|trabaja|trabajan|"
    r"se|no|ha|han|va|van|hace|nació|murió|estudia|quiere|prefiere|usa|habla|viene|sale|llega|cumple|"
    r"juega|toca|cocina|empieza|termina|funciona|y|en|con|por|para|desde|que)\b|\s*[.,;:!?]|\s*$)"
)
_ES_OWN: Final = re.compile(
    r"\b(?P<before>(?:a|de|A|De)\s+)?(?P<own>[Mm]is?)\s+(?P<adjective>(?:mejor|nuev[oa]|antigu[oa]|"
    r"primer[oa]?)s?\s+)?(?P<noun>[a-záéíóúñ]+)(?P<rest>(?:\s+(?:mayor|menor|favorit[oa]|actual)e?s?)?"
    r"(?:\s+de\s+[a-záéíóúñ]+)?)" + _ES_AFTER
)


def spanish(sentence: str, name: str) -> str | None:
    """A Spanish sentence that opens with a known first person, or with "mi" and a known noun."""
    changed = sentence
    likes = _ES_LIKES.match(sentence)
    subject = None if likes else _ES_SUBJECT.match(sentence)
    if likes:
        lead = likes["lead"] or ""
        no = "no " if likes["no"] else ""
        opening = "a" if lead else "A"
        changed = f"{lead}{opening} {name} {no}le {likes['verb']}{sentence[likes.end() :]}"
    elif subject and (third := _spanish_verb(subject, sentence)):
        no = "no " if subject["no"] else ""
        clitics = re.sub(r"\bme ", "se ", subject["clitics"], flags=re.IGNORECASE).casefold()
        adverb = (subject["adverb"] or "").casefold()
        rest = _ES_SECOND.sub(_second_spanish, sentence[subject.end() :])
        changed = f"{subject['lead'] or ''}{name} {adverb}{no}{clitics}{third}{rest}"
    return _ES_OWN.sub(lambda match: _spanish_own(match, name), changed)


def _spanish_verb(subject: re.Match[str], sentence: str) -> str | None:
    verb = subject["verb"].casefold()
    third = _ES_VERBS.get(verb)
    if third is None or (
        verb == "he" and not re.match(r" \w+(?:do|to|cho)\b", sentence[subject.end() :])
    ):
        return None
    plain = subject["yo"] or subject["no"] or subject["clitics"] or subject["lead"]
    if verb in _ES_NOUNS_TOO and not plain:
        following = _ES_GOES_ON.match(sentence, subject.end())
        if following is None or (verb == "como" and not subject["yo"]):
            return None
    return third


def _second_spanish(match: re.Match[str]) -> str:
    verb = match["verb"]
    plain = verb not in _ES_NOUNS_TOO or _ES_GOES_ON.match(match.string, match.end())
    third = _ES_VERBS.get(verb) if plain and verb != "como" else None
    return f"{match['joint']}{third}" if third else match[0]


def _spanish_own(match: re.Match[str], name: str) -> str:
    noun, plural = match["noun"], match["own"].casefold() == "mis"
    one = noun[:-1] if plural and noun.endswith("s") and noun not in _ES_MALE else noun
    one = one[:-1] if plural and one.endswith("e") and one[:-1] in _ES_MALE | _ES_FEMALE else one
    if one in _ES_FEMALE or (one not in _ES_MALE and one.endswith(("ción", "sión", "dad", "tad"))):
        article = "las" if plural else "la"
    elif one in _ES_MALE:
        article = "los" if plural else "el"
    else:
        return match[0]
    before = (match["before"] or "").strip()
    if before:
        joined = {"a": "al", "de": "del"} if article == "el" else {}
        article = joined.get(before.casefold(), f"{before.casefold()} {article}")
    adjective = match["adjective"] or ""
    written = f"{article} {adjective}{noun}{match['rest']} de {name}"
    capital = (before or match["own"])[:1].isupper()
    return written[:1].upper() + written[1:] if capital else written


# Italian

leftover_italian: Final = re.compile(
    r"\b(?:io|mi|me|mi[oae]|miei|ho|vivo|faccio|vado|sto|(?<!che )(?<!e )sono (?=un[ao']?\b))\b",
    re.IGNORECASE,
)
_IT_ARE: Final = (
    "abitare lavorare mangiare studiare parlare amare odiare usare giocare comprare viaggiare "
    "guidare suonare cucinare insegnare cercare pagare pensare sperare nuotare ballare cantare "
    "aspettare ascoltare programmare chiamare alzare sposare svegliare fumare cambiare iniziare "
    "cominciare lasciare imparare allenare guadagnare adorare detestare portare tornare arrivare "
    "visitare trovare prenotare diventare"
).split()
_IT_ERE_IRE: Final = (
    "vivere leggere scrivere correre prendere dormire partire vedere conoscere credere perdere "
    "vendere mettere ricevere decidere sentire aprire seguire offrire servire vestire"
).split()
_IT_OTHER: Final = {
    "ho": "ha", "faccio": "fa", "vado": "va", "sto": "sta", "so": "sa", "do": "dà", "dico": "dice",
    "vengo": "viene", "esco": "esce", "bevo": "beve", "posso": "può", "voglio": "vuole",
    "devo": "deve", "tengo": "tiene", "rimango": "rimane", "preferisco": "preferisce",
    "capisco": "capisce", "finisco": "finisce", "trasferisco": "trasferisce", "sarò": "sarà",
    "avrò": "avrà", "andrò": "andrà", "farò": "farà", "verrò": "verrà", "dovrò": "dovrà",
    "potrò": "potrà", "vorrò": "vorrà", "vivrò": "vivrà", "partirò": "partirà",
    "comprerò": "comprerà", "ero": "era", "avevo": "aveva", "vorrei": "vorrebbe",
    "nacqui": "nacque", "spedisco": "spedisce", "costruisco": "costruisce", "gestisco": "gestisce",
}  # fmt: skip
_IT_NOUNS_TOO: Final = frozenset(
    "lavoro studio viaggio gioco uso canto ballo corso sento parto cambio inizio ascolto "
    "programmo vivo".split()
)


def _italian_verbs() -> dict[str, str]:
    table = {f"{verb[:-3]}o": f"{verb[:-3]}a" for verb in _IT_ARE}
    table |= {f"{verb[:-3]}o": f"{verb[:-3]}e" for verb in _IT_ERE_IRE}
    return table | _IT_OTHER


_IT_VERBS: Final = _italian_verbs()
_IT_LEAD: Final = (
    r"(?P<lead>(?:(?:il |nel )?\d{4}(?:-\d\d-\d\d)?|la settimana del \d{4}-\d\d-\d\d"
    r"|a \w+ \d{4}|[^,;]{1,60}?\(detto il \d{4}-\d\d-\d\d\)"
    r"|(?:la|il) \w+ del \d{4}-\d\d-\d\d|oggi|ora|adesso|sempre|di solito|anche|attualmente"
    r"|a volte|[^,;]{1,60},),? )?"
)
_IT_SUBJECT: Final = re.compile(
    rf"^{_IT_LEAD}(?P<io>io )?(?P<no>non )?(?P<clitics>(?:mi |ti |lo |la |li |le |ci |ne |l['’])*)"
    r"(?P<verb>[^\W\d_]+)\b",
    re.IGNORECASE,
)
_IT_LIKES: Final = re.compile(
    rf"^{_IT_LEAD}(?:a me )?(?P<no>non )?mi (?P<verb>piace|piacciono|piacerebbe|interessano?|serve|"
    r"servono|manca|mancano|sembra|dispiace|fa male)\b",
    re.IGNORECASE,
)
_IT_SECOND: Final = re.compile(r"(?P<joint>\b(?:e|ma|che) (?:non )?)(?P<verb>[^\W\d_]+)\b")
_IT_ONE: Final = re.compile(r" (?:molto |un po['’] |già |ancora |sempre )?(?:un[ao']?\b|\w+[oa]\b)")
"""After "sono": of one, as "they are" would be with -i or -e."""
_IT_AFTER: Final = (
    r"(?=\s+(?:è|sono|era|erano|ha|hanno|aveva|si|non|vive|vivono|abita|abitano|lavora|lavorano|va|"
    r"vanno|fa|sta|studia|vuole|preferisce|usa|parla|viene|arriva|compie|gioca|suona|cucina|inizia|"
    r"funziona|parte|e|in|a|con|per|da|che)(?!\w)|\s*[.,;:!?]|\s*$)"
)
_IT_OWN: Final = re.compile(
    r"\b(?P<article>[Ii]l|[Ll]a|[Ii]|[Ll]e|[Aa]l|[Aa]lla|[Dd]el|[Dd]ella|[Nn]el|[Nn]ella|[Dd]al|"
    r"[Dd]alla|[Dd]ei|[Dd]elle|[Aa]i|[Aa]lle)\s+(?:mi[oae]|miei)\s+"
    r"(?P<noun>(?:(?:nuov[oaie]|vecchi[oae]?|miglior[ei]?)\s+)?[a-zà-ù]+"
    r"(?:\s+(?:preferit[oaie]|maggiore|minore))?(?:\s+di\s+[a-zà-ù]+)?)" + _IT_AFTER
)
_IT_KIN: Final = re.compile(
    r"(?:(?<=^)|(?<=\bcon )|(?<=\bper )|(?<=\be )|(?<=, ))(?P<own>[Mm]i[oa])\s+"
    r"(?P<noun>padre|madre|fratello|sorella|marito|moglie|figlio|figlia|nonno|nonna|zio|zia|cugino|cugina|suocero|"
    r"suocera|cognato|cognata|nipote)" + _IT_AFTER
)
_IT_VOWEL: Final = {
    "il": "l'", "la": "l'", "i": "gli ", "al": "all'", "alla": "all'", "del": "dell'",
    "della": "dell'", "nel": "nell'", "nella": "nell'", "dal": "dall'", "dalla": "dall'",
    "dei": "degli ", "ai": "agli ",
}  # fmt: skip
_IT_HEAVY: Final = {
    "il": "lo ", "i": "gli ", "al": "allo ", "del": "dello ", "nel": "nello ", "dal": "dallo ",
    "dei": "degli ", "ai": "agli ",
}  # fmt: skip


def italian(sentence: str, name: str) -> str | None:
    """An Italian sentence whose first verb is a known first person, or with "mio" and a noun."""
    changed = sentence
    likes = _IT_LIKES.match(sentence)
    subject = None if likes else _IT_SUBJECT.match(sentence)
    if likes:
        lead = likes["lead"] or ""
        no = "non " if likes["no"] else ""
        opening = "a" if lead else "A"
        changed = f"{lead}{opening} {name} {no}{likes['verb']}{sentence[likes.end() :]}"
    elif subject and (third := _italian_verb(subject, sentence)):
        no = "non " if subject["no"] else ""
        clitics = re.sub(r"\bmi ", "si ", subject["clitics"], flags=re.IGNORECASE).casefold()
        rest = _IT_SECOND.sub(_second_italian, sentence[subject.end() :])
        changed = f"{subject['lead'] or ''}{name} {no}{clitics}{third}{rest}"
    changed = _IT_OWN.sub(lambda match: _italian_own(match, name), changed)
    return _IT_KIN.sub(lambda match: _italian_kin(match, name), changed)


def _italian_verb(subject: re.Match[str], sentence: str) -> str | None:
    verb, rest = subject["verb"].casefold(), sentence[subject.end() :]
    if verb == "sono":
        return "è" if subject["io"] or _IT_ONE.match(rest) else None
    third = _IT_VERBS.get(verb)
    plain = subject["io"] or subject["no"] or subject["clitics"] or subject["lead"]
    if third and verb in _IT_NOUNS_TOO and not plain:
        following = re.match(r" (?:a|in|come|per|con|da|molto|ogni|un[ao]?|il|la|le|i)\b", rest)
        return third if following else None
    return third


def _second_italian(match: re.Match[str]) -> str:
    third = _IT_VERBS.get(match["verb"])
    return f"{match['joint']}{third}" if third else match[0]


def _italian_own(match: re.Match[str], name: str) -> str:
    noun, article = match["noun"], match["article"]
    small = article.casefold()
    if noun[:1] in "aeiouàèéìòù":
        written = _IT_VOWEL.get(small, f"{small} ")
    elif re.match(r"s[^aeiou]|z|gn|ps|y", noun):
        written = _IT_HEAVY.get(small, f"{small} ")
    else:
        written = f"{small} "
    if article[:1].isupper():
        written = written[:1].upper() + written[1:]
    return f"{written}{noun} di {name}"


def _italian_kin(match: re.Match[str], name: str) -> str:
    noun = match["noun"]
    female = match["own"].casefold() == "mia"
    article = "la " if female else "lo " if noun.startswith("z") else "il "
    if match["own"][0].isupper():
        article = article.capitalize()
    return f"{article}{noun} di {name}"
