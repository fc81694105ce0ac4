"""Short and pet forms of first names. Compiled for this project; no list is complete.

A form may belong to several names (Alex, Sam, Chris): it then fits each of them and decides
nothing by itself.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Final

__all__ = ["full_forms", "is_first_name", "short_forms"]

# A full name, then what people who bear it are called.
_TABLE: Final = """
abigail abby gail abbie
adelaide addie
agnes aggie nessa
albert al bert bertie
alejandro ale alex jandro
aleksandr sasha sanya alex shura
aleksandra sasha ola ala alex
alessandra ale sandra
alessandro ale sandro
alexander alex sasha xander al lex sandy alec
alexandra alex sasha lexi sandra alexa sandy
alfred al alf fred alfie
alice ali allie
alison ali allie
amanda mandy
amelia amy millie mia
anastasia nastya stasia ana
andreas andi andy
andrew andy drew
andrzej jedrek
angela angie
ann annie nan nancy
anna annie anya ania anja nina
anthony tony ant
antonio tono toni tonio
arthur art artie
barbara barb babs basia bobbie
bartholomew bart
beatrice bea trixie
benjamin ben benji benny
bernard bernie
bridget biddy bridie
catherine cathy cat kate katie cath kitty
charles charlie chuck chas
charlotte lottie charlie lotte
christian chris
christina chris tina chrissie
christine chris chrissie tina
christopher chris kit topher
constance connie
cynthia cindy
daniel dan danny
david dave davy
deborah deb debbie
dmitri dima mitya
dolores lola
dominic dom nick
donald don donny
dorothy dot dottie dolly
edmund ed eddie ned
edward ed eddie ted ned
ekaterina katya katia
eleanor ellie nell nora
elena lena lenka
elisabeth lisa sisi lisbeth elsa liesl betti
elizabeth liz lizzie beth betty eliza libby bess lisa
elzbieta ela
emily em emmy
emma em
eugene gene
evgenia zhenya
evgeny zhenya
fernando nando
florence flo florrie
frances fran frankie
francesca fran franca
francesco franco cesco checco
francis frank fran
francisco paco pancho paquito curro
frederick fred freddie
friedrich fritz
gabriel gabe
gabriela gaby gabi
geoffrey geoff
georgina george georgie
gerald gerry jerry
gerard gerry
giovanni gianni vanni nanni
giuseppe beppe pino peppe
gregory greg
guadalupe lupe
guillaume guy
guillermo guille memo
gwendolyn gwen wendy
hannah han
harold harry hal
harriet hattie
helen nell nellie
henry harry hank hal
ignacio nacho
isaac ike zac
isabel izzy bella isa
isabella izzy bella isa
ivan vanya
jacob jake
jacqueline jackie
jakub kuba
james jim jimmy jamie
jane janie
janet jan
jeffrey jeff
jennifer jen jenny
jeremy jerry jem
jessica jess jessie
jesus chucho
joachim jochen
joan joanie
johann hans
johannes hans hannes jo
john johnny jack
jonathan jon jonny nathan
jose pepe
joseph joe joey
josephine jo josie
joshua josh
joyce joy
juan juanito
judith judy judi
julia jules
julian jules
karl kalle
katarzyna kasia
katharina kathi kati
katherine kate katie kathy kat kit kitty
kathleen kathy kath
kenneth ken kenny
konstantin kostya
kristina kris tina
krzysztof krzys
laura laurie
lawrence larry laurie
leonard len leo lenny
leonardo leo
lorenzo enzo
louis lou
louisa lou
louise lou
lucia luci
lukas luke
malgorzata gosia
manuel manolo manu
margaret maggie meg peggy marge greta daisy
margarete grete gretel
maria mia masha
marie mimi
martha marty
martin marty
mary molly polly
mathilde tilda
matilda tilly
matthew matt matty
matthias matze
maximilian max maxi
melissa mel missy
michael mike mick mickey mikey
michal misiek
mikhail misha
miriam mimi miri
mohammed mo
montserrat montse
nadezhda nadya
natalia natasha nata
nathan nat nate
nathaniel nat nate
nicholas nick nicky
nicola nicky
nikolai kolya
oliver ollie
olivia liv livvy
pamela pam
patricia pat patty trish tricia
patrick pat paddy
pavel pasha
penelope penny
peter pete
philip phil pip
priscilla cilla
rachel rach
raymond ray
rebecca becky becca
reginald reg reggie
ricardo richi
richard rick dick rich ricky richie
robert bob rob bobby robbie bert
roberta bobbie
roberto beto
rodrigo rodri
roger rog
roland rolly
ronald ron ronnie
rosario charo
rosemary rosie rose
rudolf rudi
samantha sam sammy
samuel sam sammy
sarah sally sadie
sebastian seb basti
sergei seryozha
sophia sophie
sofia sofi
stanislav stas
stanley stan
stephanie steph
stephen steve stevie
steven steve stevie
stuart stu
susan sue susie suzy
susanna sue susie
svetlana sveta
tamara toma
tatiana tanya
terence terry
teresa terry tess resi
theodore ted theo teddy
theresa terry tess
thomas tom tommy
timothy tim timmy
tomasz tomek
ulrich uli
ursula ursel
valentina valya
veronica ronnie vero
victor vic
victoria vicky tori
vincent vince vinnie
virginia ginny
vladimir volodya vova
vyacheslav slava
walter walt wally
wilhelm willi
william bill will billy liam willie
winifred win winnie
wolfgang wolfi
xavier xavi javi
yulia yulya
zachary zach zack
"""


@cache
def _forms() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    full: dict[str, set[str]] = defaultdict(set)
    short: dict[str, frozenset[str]] = {}
    for name, *forms in (line.split() for line in _TABLE.split("\n") if line):
        short[name] = frozenset(forms)
        for form in forms:
            full[form].add(name)
    return {form: frozenset(names) for form, names in full.items()}, short


def full_forms(name: str) -> frozenset[str]:
    """The full names that a first name is short for, and itself; folded as name keys are.

    >>> sorted(full_forms("bert"))
    ['albert', 'bert', 'robert']
    """
    return _forms()[0].get(name, frozenset()) | {name}


def short_forms(name: str) -> frozenset[str]:
    """What people of a first name are called.

    >>> sorted(short_forms("thomas"))
    ['tom', 'tommy']
    """
    return _forms()[1].get(name, frozenset())


def is_first_name(word: str) -> bool:
    """Whether the table has a word as a first name, full or short."""
    full, short = _forms()
    return word in full or word in short
