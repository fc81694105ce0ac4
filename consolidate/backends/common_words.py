"""Words that are no names though a sentence may begin with them.

Words that stand in lower case in at least three of this project's own training notes (English, some
German, French, Spanish, Italian), without regular plurals and without words that `is_common` knows
by their ending. The list is data: nothing is looked up elsewhere.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_common"]

# Endings of verbs, adverbs and abstract nouns. Names that end so are listed beneath.
_ENDING: Final = re.compile(
    r".{3,}(?:ing|ed|ly|tions?|ness|ments?|ity|ities|able|ible|less|ful|ous|ungen|ung|heit|keit"
    r"|schaft|zion[ei]|ci[óo]n(?:es)?|mente|ement)"
)
_NAMES: Final = frozenset(
    "ahmed alfred beijing beverly billy boeing chloe clement emily felicity fred hamed holly ines "
    "italy jared kelly kimberly kipling lily manfred milly mohamed mohammed molly muhammed nancy "
    "polly reading sally saeed sterling syed wahed waleed wilfred winifred".split()
)


def is_common(word: str) -> bool:
    """Whether a word, in lower case, is an everyday word rather than a name."""
    if word in _NAMES:
        return False
    if word in _WORDS or _ENDING.fullmatch(word):
        return True
    return (word.endswith("s") and word[:-1] in _WORDS) or (
        word.endswith("es") and word[:-2] in _WORDS
    )


_WORDS: Final = frozenset(
    """
ab abbiamo abends abierta abita able aboard abono about above abril abroad absence absent abuela
abuelo abuse acaba accept acceptance access accetta accident accordion account accountant acht
acme acondicionado acoustics across act action active actual ad add address adesso admin admires
admission admit adopt adores adult advance advice adviser advises affair affects affitto afford
afraid after afternoon afterwards again against age aged agency agenda agent ago agosto agree agua
ahead ahora aid aire airline airport airs aisle ajar alarm alarma album alcohol alert alias alike
alive all alle allein aller allergic allergica allergies allergist allergy allow allowance almost
alone along aloud alquilamos alquiler already also alte alternate although alto altogether altro
alumni always am ambulance among amount an anaesthetic anaesthetist analyst analytics anche ancora
and andare animal ankle annex anni anniversary announce annoys annual année another answer antes
antibiotics any anybody anymore anyone anyway anywhere apart aperta aperto api apologise apology
app appeal appears appendix appetite apple applicants applies apprentices apprenticeship approval
approvato approve apre aprile aqua aquarium arbeite arbeiten architect architecture archive are
area argue arm around arrival arrive arrêté art arthritis articles artificial as ascensor aside
ask asleep asparagus aspirin assessor assets assignee assistant assumes asthma astrology astronomy
at ate athletics attack attempt attend attendance attendant attic attorney au aubergines auch
aucun audience audit auditor auf aussi auth author autobús autocomplete automatic autumn aux avant
avec average aviary avoid avons avril awake away awful año baby babysits babysitter bac back
backend background backlog backoff backup bad badge badminton bag bagpipes baja bake baker bakery
baklava balancer balcony bald ball ban banana banca band banda bank bankrupt bar barbecue barber
barefoot barn barrel base basic basket basketball bass bassoon batch bath bathroom batteries
battery bay be beach beagle beans bear beard bearings beat became because become bed bedroom
bedtime bee beech beef beehives been beer befor before beforehand began begin beginner beginnt
begun behalten behaviour behind bei beim being bekommt believe bell bellows belong below belt
bench benchmark benign bent beside best bet beta beträgt better between beyond biblioteca bici
bicycle bid bidder bien big bigger biggest biglietti bike bill billet bin bindings binds biology
biopsy birch bird birth birthday birthplace bis biscuits bisoprolol bit bite bitte black blackout
blanc blanket bleibt bleu blinds blister block blog blonde blood blue board boat boathouse body
bogs boiler boils bois boit bold bone bonne bonus book bookings bookkeeper booklet bookshop
booster boot border bore born borrow boss bot botanical both bother bottle bottom bought bound
bout bow bowl box boy boyfriend braces brake branch brand brass braucht brave bread break
breakdown breaker breakfast breathe breton brewery bridge brief brigade bright brilliant bring
broadband brochure broke broken broker broom brother brought brown browser brutal brutalist bucket
buddy budget budgie buffet bug build builder built bulb bulk bullet bundle bungalow bunk buoy
bureau burger burglars burglary burn burnt burro burst bus but butter button buy buyer buyout by
bypass cabin cabinet cable cache cactus cada cafe caffè café cage cake calculator caldaia calendar
calf call caller calm calories cambiar came camera camp campaign camper campervan campsite campus
can canal canaries canary cancel candidate candles cane cannot canoe canta canteen cantiere
cantina cap capital capo captain car caravan carbon carbs card cardiologist care carer caretaker
cargo carne carné carpenter carpet carport carriage carrier carries carrots carry cart carta casa
casada case cash cashews casi cast castle cat catalogue cataract caterer cathedral caught cause
cave cc ce ceilidh celebrate celery cell cellar cellist cello cena cent centimetres centre centro
ceramics ceremony cert certain certificate cette ch chain chainsaw chair chairman chairwoman
chalet chamber chambre championship change changelog changé channel chapel chapter chaque
character charge chart chat chatbot chatte che cheap cheaper cheapest check checker checklist
checkout cheese chef chemistry chemo cheques chess chest chez chiama chiavi chicken chickenpox
chiede chief chien child childhood children chili chilli chimie chimney chip chiude chiuso
chocolate choice choir cholesterol choose chore chose chosen church churn ci cider cierra
cigarette cilantro cinco cinema cinq circle circuit circumstances cita cities citizen citizenship
città city claim clarinet clase clash class classe classifier classroom clause clay clean cleaner
clear clerk client cliente climb clinic clock close closer closet clothes club clubhouse cluster
clutch clé cm cmd coach coal coast coat coche cocina code coeliac coffee coin cold collarbone
collaudo colleague collect colony colour column come comics comma command commence commission
commit committee common commute como company compare comparison competitor compiler complain
complaint complete compliance component composer compost comprato compris compte compulsory
compute computer comté con concentrator concern concert concerto conclusion condominio conductor
conducts conf conference confidential config confirm congress consent conservatory consider
consists console consortium consultant consumer consumes contact contain container content contest
context continue contract contractor contrary contrato contratto contre contributes control
controller conversion convince cook cookie coop cooperative copies copper copy coral core
coriander corn corner coro corporate correct correo corridoio corridor corsa corso cortisone cost
costa cot cottage couch cough could council counsel count countersigns countries country couple
courier cours course court courtroom courtyard couru cousin cover coverage coûte crack cramps
crane crash crate crawl cream creates credit crew cricket crime croft cron crossword crowd cruise
crutches crypt crypto crèche csv cuatro cubes cucina cuesta cuisine culture cumin cumple cup
cupboard currency current curry curtains cushion custody customer customs cut cutter cycle
cyclists da daemon dai dairy dal dalla damage damp dance dann dans dares darf dark darkroom
dashboard data database dataset date datos daughter dawn day daycare db dbt dd de dead deadline
deaf deal dealer dean death debate debe debt debug decade decide decidido decision deciso deck
deep default defence degree dehors dei dejó del delay delete deliver deliveries delivery della
delle dem demand dementia demo den denies dent dental dentist dentista dentures departs departure
dependencies dependency deploy deposit depot depth depuis deputy der dermatologist derrama desde
design designer desk desktop despite despliegue después dessert detector deux dev develop
developer device di diabetes diabetic diagnosis dialysis diary did die dieci died diesel diet
dieta dietitian diez diff difference different difficult digest digital digits dimanche dinghy
dinner direct director directory directrice dirige dirty disaster discontinue discount discussion
disease dish dishwasher disk dislike dispatch dispatcher display dispute distance distributor
district dit divano division divorce do doch docs docstrings docteur doctor doctoral doctorate dog
doing dollars domain domenica domingos dominoes done donkey donne donor door dopo dorm dorme dors
dort dosage dose dossier dotfiles dottor dottoressa double doubt dough down download downstairs
downtime dozen draft drain drank draw drawbridge drawer drawings drawn dream drei dresser drew
drill drink drip drive driven driver droit drone drop drove drug drum drummer drunk dry dryer du
due dull dumps duplicate dura durante durch dure dusk dust duty dyes décembre dépôt déteste día
dürfen each ear earbuds earlier earliest earn earplugs easier east easy eat eaten eater echo
eczema edge edit editor efectivo effect egg eigenen eight eighteen eightieth eighty ein eine einem
einen einer einmal either el elder eldest electric electrician eleven ella elle else elsewhere
email embarazada embassy emergencies emergency emoji employee employer employs empresa empty en
enamel encanta encore end endpoint energy enfants enfermera engine engineer enjoy enough enter
entire entra entrance entre entries entry entschieden env envelope episode equal equipo er era
ergotherapist erlaubt error es escape espresso essay est estate este estimate estudia está están
et etc ethics eu euros even evenings event ever every everybody everyone everywhere evidence ex
exact exam examiner example exceeds excellent except exchange exclusions executive exempt exercise
exhaust exhibit exist exit expects expense expensive experience expert expire expiry exponential
export exporter exposes extends extension external extra eye eyesight fa face factory facts
factures faculty fahren fail failover failure fair fait fall fallback fallen fallo false falta
families fan far fare farewell farm farmacia farmers farmhouse fast faster fat father fatto fault
faut favorite favour favourite fax façade fear feat feature febbraio febrero fed fee feed feedback
feel feet fehl fell felt female femme fence fennel ferie ferme fermé fermée ferret ferry ferryman
festival fetch fever few fewer fiancé fianza fibre fibreglass field fiera fifteen fifth fifties
fifty fig figli figlio figure file fill fille film fils filter final finale finalists finance find
finde findet fine fingers finish fino fire firewall firewood fireworks firm firmware first fiscal
fish fisio fisso fit five fix fixtures flag flake flaky flamenco flash flat flatmate flea fleet
flew flies flight float flood floodlights floor flour flow flower flu fluent fly foam focus fog
foil fois folder folds folk follow fond fondue font food foot football footbridge for forbidden
forbids force forearm forecast foreign foreman forest forester forget forgot forgotten fork
forklift form formal format formatter former fortnight fortune forty forum forward forwarder
foster found founders fountain four fournisseur fourteen fourth fox fracture frame framework
francs français fratello fraud free freelance freelancer freeze freezer fresh fridge friend frigo
from front frontend frost froze frozen fruit frère früher ft fuel full fuma funciona fund funeral
funghi funny furgone furgoneta furniture further fuse fährt fällt für gala gallery game gap garage
garde garden gardener gardien gare garlic garçon gas gate gateway gato gauge gave gearbox gears
gecko geese gegen geht gehört gekündigt gel gelato gelé gen general generator genitori gennaio geo
geocoder geology geraniums geschlossen geschrieben gestrichen get gezogen ghcr gibt gift gig
gigabytes gilt gimnasio ginger gioca giorni giorno giovedì girl girlfriend git giugno give given
già glad glass gli gliders glove glue gluten glutine go goal goalkeeper goat godchild godfather
godmother godson goggles going gold goldfish gone good goose gospel gossip got goulash gout grade
gram grammar grand grandchildren grande grandfather grandmother grandparents granny grant
grapefruit grapes graphics gravel great green greenhouse grew grey greyhound grid grill gross
ground group grout grow grown growth grumpy grève gs guarantee guard guardia guess guest
guesthouse guida guide guild guinea guitar guitarra gum guppies gusta gut gutter gym gymnastics ha
habe haben habit habite hace hacen hackathon had hail hair hairline halal halb half hall hallr
hallway hamster han hand handball handbook handle handler handover handwritten hang hanno happen
happy harbor harbour hard harder hardware harmonium harp harvest hasta hat hatch hate have hay
hazel hazelnut he head headcount header headings headlight headphones headquarters health healthy
healthz heap hear heard heart heartbeat heat heater heavier heavy hedge hedgehog heel height heirs
heizen heißt held helios helmet help helpdesk helpers hemos hemp hence hens her herbs here hermana
hermanos herself heures heute hexagonal hides high higher hijo hike hill him himself hinge hints
hip hire his history hit hitch hives ho hobby hockey hold holder holes holiday home homework
honest honey honorary hook hopes hora horno horror horse hoses hospice hospital host hostel hot
hotel hotfixes hotline hour house houseboat household how however html http hub huit hung hunt
hurt husband hut hutch hält ibuprofen ice ich icy id idea idempotency identical if ignores il ill
im image immer imperative import importer impresora impression improv in inbox incident include
income increase indent index indexer indoor industrial info inform infra infrastructure infusions
ingest inhabitants inhaler inherit initials injuries ink inside insists insomnia inspector install
instance instead instructor insulate insulin insurance insurer intake integers intend interest
interface interim intermediate intermittent intern internal internet internship interpreter
interval interview interviewers into intolerant intranet introduce inventory investor invierno
invite invités invoice io iron is island issue ist it italics item itself jab jacket jam jamais
janvier jar jarabe jardin jazz je jeden jefa jerseys jetty jetzt jeudi jigsaw jitter job join
joiners joint joue jour journal journée js json judge judo jueves juggle juice juin jumeaux jump
junio junior juridique jury just kalt kann kaputt karaoke kayak keen keep keeper kein keine keinen
kept kernel kettle key keyboard keynote kg kid kidney kiln kilometres kilos kind kindergarten
kiosk kit kitchen kite kitten kiwi km knee knew knife knit knot know known kommt kostet kroner
kubectl kubelet kv la lab label labour lack lactose ladder ladies lady lag lah laid lake lamb
lambdas lame lamp land landlady landlord landscapes lanes language lantern lapin lapse laptop
large larger largo lasagne laser last late latecomers latency later latest latex latexmk lattosio
laufen laugh launch laundry lavora law lawn lawsuit lawyer lay layer layoffs layout lb le lead
leadership leaf leaflet league leak learn learnt lease leash least leather leave lebt lecture led
ledger left leg legacy legal lei lemon lend length lenses lent lentils lesson let letter letto
lettuce leur level levothyroxine lib librairie libraries library libre libreria lice licence
license lid lie liebsten liegt lieu life lifeboat lifeguard lift light lighthouse ligne like
lilies limit line linen link linke lint linter liquorice list liste listen lit litre litter little
live liver ll llama lleva lo load loaf loan lobby local locale lock locker lodge lodger loft log
logic login logistics logo long longer look loom loose loro lorries lorry lose lost lot lottery
loud loue love low lower lowest loyalty loyer ls luce luggage lui lukewarm lump lunch lundi lunedì
lunes lung lying läuft ma macchina machine macht mad made madre mag magasin magazzino maggio
magnesium maiden mail mailbox mailer main maintainer maintains maintenance maire mairie mais
maison major make maker mal male malignant man manage manager mandatory mangia manual manufacturer
many map marathon marche marché mardi mare margin mark market marriage marry mars martedì martes
marzo mask mast master match maternal maths matin mats matte matter mattina mattress maximum maybe
mayo mayonnaise mayor mañana md me meadow meal mean meant meantime meanwhile measles measures meat
media medical medicine medico medium meet meetings meetup mehr mein meine melatonin member
membership memory memos men meniscus mentor menu merchant mercredi merge merger mesa mese message
met metal meter metformin metre metrics metro mezzo mg mi mia mich microfrontends micrograms
microphone microscope microservice midday middle mide midi midnight midsummer midwife miei might
migraine migrate mild mileage miles milestone milk mill million milliseconds min mind mine mini
miniatures minibus minimum minister ministry mint minus minute minuti minutos mio mir mirror
misread misses mission mistake mit mix ml mm mmol mnt mobile mock mode model moderator modifier
module moins mois moitié molar mole molecule moment monastery money monitor monolith monorepo
montags month mood moon more morgens mornings mortgage most mother motion moto motor motorbike
motorway mould moulin mountain mouse mouth move movers mower much mud muddy mug mural muscle
museum mushrooms music muss must mustard mutuo my myself m² m³ más mère même müssen nach nada
nadie nails naissance name namespace nanny nap napkin narrators narrow narrowboat nasal nationwide
native nausea nd ne near nearest nebenan neck need negative negotiates negozio nei neighbour
neighbourhood neither nel nella neon nephew nerves nests net netti network neue neuen neuf neun
never nevera new newer newsletter newspaper next nginx ni nice niche nicht nickname nido nie niece
niente night nimbus nimmt nine nineteen nineties ninety ninth niño no nobody noch noche nodes noi
noise noisy non none nonna nonno nonsense noodle noon nor nordwind normal north northern nose
nosotros nostri nostro not notario notary note notebook notice notifier notre notte notturno nous
nouveau novel novembre noventa now nowadays nowhere npm nuit null number numpy nuoto nuova nuovo
nur nurse nursery nut né oak oars oat object oboe obra ocho octubre odd odometer of off offen
offer office officer official offline offsite oficina often oggi ogni ohne oil okay okra old older
oldest olives on once one onion online only ont onwards open opera operates operator opinion
oppose opposite ops opt option optional or ora oral orchard orchestra orchids order ordinary ore
org organ organic organiser origin original orthopaedist other otherwise oud ought our ourselves
out outage outbound outcome outdoor output outside outsiders ouverte oven over overall overdraft
overdue overnight overtime owe owl own owner oxygen oysters pace pacemaker pack package paddle
padre padrone pads paediatric paediatrician paga pagamos pagare pagato page pager paid paie pain
paint painters pair palazzo pale palestra pallet pan pancakes pandas panel panne panniers paper
paperbacks paperwork par para parallel paramedic parcel parent parental parish park parle parlent
parrot parse parser part parte partent partial participants parties partner party pas passa passe
passenger passport password past pasta pastry pasture patch patent path patient pattern pause pay
payday payouts payroll peace peaks peanut pear peas peat pedal pellets pen penicillin pension
pensione people peppers pequeño per percent perché perdu perfect performance performs perhaps
period permanent permis permission permit perro person personal personas persone personne pesa pet
petit petrol peut pharmacies pharmacist pharmacy phase philosophy phone photo photographer
photographs physics physio physiotherapist physiotherapy piace piano pick pickers picnic picture
pie piece pier pig pill pillow pilot pin pipe pipeline pirate piscina piso pistachios pitch pizza
più place plain plan plane planetarium planner plant planta plaster plastic plate platform play
playa player playground plaza plaît please pleasure plein plenty plot plugin plum plumber plus pm
pneumonia pnpm pocket poco pod podcast podiatrist poetry poi point polars police policy pollen
polo pond pont pontoons pony pool poor poorer popcorn por porch pork porque porridge port porta
portal porte porter portiere positive post postal postbox poster postgresql postman postmortem
posto pot potatoes pottery pounds pour powder power practice practise pram pranzo precise prefer
preference preferito pregnancy pregnant premises premium prend prende present preservatives
president presidente press pressione pressure prestato preview price prima primary primos
principal print printer printouts prior pris prison privacy private prize probe problem process
prod produce product productive profile progetto program programme progress proiettore project
projector projet promise promote pronouns proper property proposal proposes protein protest
prototype proud provider provides provincia proxies proxy pruebas près préféré psychologist pub
public publish publisher pueden puerto puffs puis pull pulse pump punch puncture pupil puppet
puppies puppy purchase pure purpose push put puzzle può px py pâtes père qa quando quarantine
quarrel quarry quarter quartet quatre quattro que queda queries query questionnaire queue qui
quick quiet quilt quince quit quite quiz quorum quota quote rabbit rabies race rack raclette
radiator radio radiology raffle rail railway rain rainy raise rama ramen ramp ran range rank rare
rash rate rather raus raw rc rd re reach reacts read reader readings ready real rear reason rebase
rebuild rebuilt recall receipt receive receptionist recipe recital reckons recommend record
recorder recovers recovery recruiter red redirects redone redundant referee reference reflux
refuge refund refusal refuse reg regards regatta region regional register registry regression
regret regular regulator rehab rehearsal rehearse rejects relatives relay release relit rely
remain remember remind reminder remise remote removal remplace rename renderer renders renew
renewal rent rental reopen reorg rep repaint repair repeat replace replica replies repo report
repository reproduce req request require rescue research reseller reserve reservoir reset resident
resides resit resizer respondents response rest restart restaurant reste restore resubmit result
resume retail retainer retire retour retreat retries retro retry return reunion reunión revenue
review reviewer rewrite rewritten reçoit ribbon ribs rice ricette ride ridge right ring ringers
rise risk ritardo riunione rival river rivière road roadmap robot role roll rollator rollback
rollout romans roof roofer room roommate rooster root rope rose rosé rota rotate rotten round
route router routeur routine row rubber rucksack ruff rug rugby ruins rule ruler rumour run
runbook rung runner rush rusty rye résumé réunion río sa sabato sabbatical sack safe safety sagt
said sail sake sala salad salaries salary sale salire salle salmon salsa salt salty same samedi
sample sand sandbox sandpit sandwiches sang sans satellite sauce sauf sauna sausage save savings
saw saxophone say scade scaffold scale scan scanner scar scarf sceptical schedule scheduler schema
schlecht schließt schläft schlägt scholarship schon school schoolmaster schwanger science scissors
scooter scope score scout scraper scratch screen script scrum sculptures se sea search seasick
season seasonal seat second secondary secondo secret secretary sede sedie see seed seedlings seems
seen segue segundo sein seit seldom sell seller semaine semanas semester semicolons seminar sempre
send senior sense sensor sent sentences senza separate sera serial sertraline serve server serveur
service servicio servidor session set settembre settimana settings settle setup seven seventies
seventieth several sh sha shade shaky shape shard share shareholder sharp she shed sheet shelf
shell shellfish shelter shelves shepherd shift shim shine shingles ship shipyard shirt shoe
shoebox shoelaces shoot shop short shortcut shorten shorter shortlist shot should shoulder show
shower shown showroom shut shuttle si sia siblings sich sick side sidecar sie sieht siempre siete
sight sign signal signature signor signé sigue silence silent sill silver simulator sin since sind
sing singer single sink sister sit site six sixteen sixth sixty size skate skeg ski skin skip
skylight slate sleep slept slide slip slippers slitta slot slow slower small smaller smart smell
smoke smoker snack snake snapshot sneeze snores snow so soap sober society socket socks sofa soft
software soir sola solar sold sole solid solo some somebody someone sometimes son songs sono sont
soon sooner sopranos sorelle sorry sort sotto sound soup source sourdough sous south soy space
spaniel spare speak speaker spec special specialist spectacle spectators speech spelt spend spent
spice spicy spielt spike spinach split spoke spoken sponsor sport spot spouse spray spread sprint
sqlbridge squad square squash src srv sta stable stack stadium staff stag stage stain staircase
stairlift stairs stairwell stall stamp stand standard standby standup stars start starter stata
state static statins statistics stato statt status stay steak steep stehen steht step stepfather
stepson stew stick sticky stiff still stings stitches stock stolen stomach stone stood stool stop
storage store storefront stories storm story stove straight strangers strap street strength stress
strict strike strings stroke stroller strong stuck student studia studies studio study stuff
stutter style su subject sublet submit subscribers subscribes subsidiary substitute subtitles
success successor such sucht suegro suffers suffices sugar suggest suis suit suitcase suite sul
sum summaries summary summer summit sun sung sunrise suo supermarket supervises supervisor supper
supplier supplies support sur surcharge sure surf surgery surname surprise surtout survey sushi
suspect swallows swap swears sweater sweep sweet swell swim swimmer swing switch swollen swore
synagogue sync synonyms syrup sysadmin system sœur tab table tablet taeglich tag tail tailor take
taken takeover talk tall taller tandem tango tank tap tape target tarpaulin task tasso taste
tattoo taught tax taxi tea teach teacher teal team tears technical technician teenager teeth
teetotal teh telemetry telescope teletrabajo television tell temp temperature template tempo
temporary ten tenant tender tendon tenemos tengo tennis tenor tent tenth term terminal terrace
terrarium terrasse terrier territory terzo tesorera test tester tetanus tetras tetto text th than
thanks that thaw the theatre theft their them theme themselves then theory therapist therapy there
therefore thermal thermometer thermos thermostat these thesis they thick thin thing think thinner
third thirteen thirty this those though thought thousand thread three threshold threw thrillers
through throughout throw thrown thumb thumbnail thumbnailer thunder thunderstorm thyroid thé tick
ticker ticket tidal tide tidefest tidewater tidy tie tied tienda tiene tient tier tight tile tiler
till time timeout timer timesheet timestamps tin tiny tip title tmp to toad toaster toda todavía
today toddler todo toe together toilet toit token tokeniser tokenizer told tolerate toll tomato
tomcat toml tomorrow tone toner tonight tonnes tonsils too took tool toolbox toolchain tooth top
torch tore torn torque tortoise torture total touch touche toujours tour tous tout toute towards
towels tower town toy trabaja trabajo trace track tracker tractor trade trademark traffic trail
trailer train trainee trainer trainings tram trampoline tranne transfer translates translator
transport traps trasferito trasloco travaille travel tre treasurer treasury treat tree treinta
treno triage trial tribe tries triggers trinkt trio trip triple tripod trois trombone trop trouble
troupe trout trouve truck true trumpet trunk trusts try trägt très ts tsconfig tu tub tuba tube
tumble tumour tune turbines turn turno turnover tutor tutorial tutti twelve twenty twice twin two
type typo tyre tz ugly ui ukulele um umbrella un una uncertain unclear uncles und under
underground underneath underpaid understand understood undici une unfair unhealthy uni uniform
union unit unknown unless unlike uno unpaid unread unrealistic unserer unter unterrichtet until up
update upgrade upheld upload upper upstairs upstream uptime urgent us usa usage use used user
using usual utils va vacances vacant vaccine vacuum vacía vado vale valid valley value valve van
vanilla vanno var vase vecina vecino vegan vegetables vegetarian vehicle vend vende vendor vendre
vendu venduto venerdì venga vengono venom venue verde verdict verkauft vernissage vers version
vert very vest vet veto veut via vicini vicino vida video viene vier viernes view villa village
vin vineyard vintage vinyl viola violin virtual visa visit visiteurs visitor vitamin viva vive
vivo voice void voisine voiture volleyball volume volunteer vom von vor vote voucher vulgar vuole
vélo völlig wage wait wake walk walker wall wallet walnut want war ward warden wardrobe warehouse
warfarin warm warn warnings warranty was wash washer wasp waste watch water watercolour waves way
we weak weapons wear weather web webhook webinar webpack website weddings week weekday weekend weg
weigh weight weil weir welcome welder well wenn went wer werden were wet what whatever whatsoever
wheat wheel wheelchair when whenever where whereas wherever whether which while whistle white who
whoever whole wholesale wholesaler whom whose why wide widget widow wie wieder wife wifi wiki
wildcard will win wind window wine winery wing winner winter wir wird wireworm wisdom wish with
withdraw withdrawn withdrew within without witnesses wohnen wohnt wohnte woken woman women won
wonders wood woodcuts wooden wool woollen word work workdays worker workload workout workplace
workshop workspace worktop worse worst worth would wound wrap wrench wrist wristband write writer
written wrong wrote wurde xx ya yaml yard year yellow yes yesterday yet yml yo yoga yoghurt you
young younger youngest your youth zero zieht zii zine zip zone zoo zshrc zu zum zur zwei zweiten
zwölf étage était été über
""".split()
)
