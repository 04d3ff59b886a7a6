package gen

import (
	"fmt"
	"strconv"
	"strings"
)

// All names are made of syllables. The sizes of the lists are the specification's: 65,000 last names,
// 4,275 and 1,220 first names, 14,741 zip codes in 272 towns of 64 divisions, 320 tax rates, 102
// industries in 12 sectors.

var (
	onsets = strings.Fields(`B Br C Ch Cl D Dr F Fl G Gr H J K Kr L M N P Pr Qu R S Sch Sh Sl St T Th Tr V ` +
		`W Wh Z Scr Mc Dw Van Gl Fitz`)
	nuclei = strings.Fields(`a an ar e el en er i in ir o ol on or u ul un ur ay ea ee oa oo ou ai al am ` +
		`em im om um ent ast est ist ost ust ack eck ick`)
	codas = strings.Fields(`ber berg burg by dale den der don field ford gan ham hart hill house kin land ` +
		`ler ley lin man mer mond ner nes rell ring sen ser shaw son stein stone ter ton vell well wick ` +
		`wood worth mont`)

	femaleOnsets = strings.Fields(`Al An Ar Be Bri Ca Ce Cla Co Da De Di El Em Es Fa Fe Flo Ge Gra Ha He ` +
		`Il In Is Ja Je Jo Ju Ka Ki La Le Li Lo Lu Ma Me Mi Mo Na Ne Ni No Ol Pa Pe Ra Re Ro Ru Sa Se Si ` +
		`So Su Ta Te Ti To Va Ve Vi Wi Yo`)
	femaleEndings = strings.Fields(`a na ra la lia lie lle line lyn dra da de ta tha tte ne nie nna ria ` +
		`rie rin ssa sha sie sa via vie ya xa ca ce cia cy ga ge bel beth belle bia cille dine dith drey ` +
		`fia fie gail ggie` +
		` hel isa ita key leen len lene lin lina lita lotte lyse ma mara mina mona nda netta rena`)
	maleOnsets = strings.Fields(`Al Ar Bar Ben Car Cla Da De Don Ed El Fre Ga Ge Ha Hu Ja Ju Ke La Le Lu ` +
		`Ma Mo Ne`)
	maleEndings = strings.Fields(`an ar ard bert cis den der dor drew dric ell en er fred gan gar glen ian ` +
		`ic in ion is ius ke ko ld len ler ley lin lo lph man mon mund nard nce nes non old ory ry son tin ` +
		`ton us vid vin ward win`)

	streetHeads = strings.Fields(`Acorn Alder Amber Arch Aspen Baker Bay Beacon Birch Bridge Brook Canal ` +
		`Cedar Chapel Cherry Church Clay Cliff Copper Creek Dawn Eagle Elm Fern Field Forge Garden Glen ` +
		`Harbor Hazel Heron Hill Holly Iron Ivy Juniper Lake Laurel Linden Maple`)
	streetTails = strings.Fields(`Bend Bluff Branch Dale Fall Fork Gate Grove Haven Heath Hollow Knoll ` +
		`Landing Ledge Mead Mill Park Point Pond Ridge Rock Run Shore Spring Summit`)
	suffixes = strings.Fields(`Alley Avenue Boulevard Circle Court Drive Highway Lane Loop Parkway Path ` +
		`Place Road Row Square Street Way`)
	domains = strings.Fields(`moka.example mail.example post.example letters.example inbox.example ` +
		`brew.example`)

	companyKinds = strings.Fields(`Industries Systems Holdings Partners Works Foods Energy Labs Networks ` +
		`Motors Pharma Textiles Capital Logistics Media Minerals`)
	sectorNames = []string{
		"Basic Materials", "Capital Goods", "Conglomerates", "Consumer Cyclical",
		"Consumer Staples", "Energy",
		"Financial", "Healthcare", "Services", "Technology", "Transportation", "Utilities",
	}
	industryKinds = []string{"Equipment", "Supply", "Distribution", "Research", "Retail", "Wholesale",
		"Leasing", "Maintenance", "Export"}

	nonTaxableNames = []string{
		"Pension Account", "Retirement Savings", "Education Savings", "Health Savings", "Employee Plan",
		"Roth Plan", "Family Trust",
		"Charity Fund", "Rollover Plan", "Keogh Plan", "Simple Plan",
	}
	taxableNames = []string{
		"Play Money", "Savings Account", "House Fund", "Boat Fund", "Vacation Account", "New Car Account",
		"Wedding Fund", "Rainy Day Fund",
		"College Fund", "Emergency Expenses", "Joint Account", "Business Account", "Day Trading",
	}
)

const (
	lastNames   = 65_000
	femaleNames = 4_275
	maleNames   = 1_220
	streets     = 1_000
	industries  = 102
	areaCodes   = 284
)

// lastName is the i-th of 65,000 different names: 40 × 40 × 41 combinations of syllables.
func lastName(i int64) string {
	return pick(onsets, i/int64(len(codas))/int64(len(nuclei))) + pick(nuclei, i/int64(len(codas))) +
		pick(codas, i)
}

func femaleName(i int64) string {
	return pick(femaleOnsets, i/int64(len(femaleEndings))) + pick(femaleEndings, i)
}

func maleName(i int64) string {
	return pick(maleOnsets, i/int64(len(maleEndings))) + pick(maleEndings, i)
}

func streetName(i int64) string {
	return pick(streetHeads, i/int64(len(streetTails))) + " " + pick(streetTails, i)
}

func pick(list []string, i int64) string { return list[i%int64(len(list))] }

func industryName(i int) string {
	return pick(sectorNames, int64(i)) + " " + industryKinds[i/len(sectorNames)]
}

func twoLetters(i int) string { return string([]byte{'A' + byte(i/26), 'A' + byte(i%26)}) }

func sectorID(i int) string   { return twoLetters(i) }
func industryID(i int) string { return twoLetters(i) }

// ratings are the 39 of the specification's list: 13 letters, each plain, + and -.
func rating(i int64) string {
	letters := strings.Fields(`AAA AA A BBB BB B CCC CC C DDD DD D E`)
	return pick(letters, i/3) + []string{"", "+", "-"}[i%3]
}

// zip is one postal code.
type zip struct {
	code, town, division string
	divisionIndex        int
	us                   bool
}

var (
	usDivisions = strings.Fields(`AL AK AZ AR CA CO CT DC DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN ` +
		`MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY`)
	cnDivisions = strings.Fields(`AB BC MB NB NL NS NT NU ON PE QC SK YT`)
)

const (
	zipCodes   = 14_741
	cnZipCodes = 5_526
	towns      = 272
)

// tax is one row of TAXRATE.
type tax struct {
	id, name string
	rate     TaxFraction
}

// taxTable has the 9 rates of countries and the 311 of divisions.
type taxTable struct {
	us, cn    []tax
	divisions [][]tax // by division index
}

func buildPlaces() ([]zip, taxTable) {
	zips := make([]zip, 0, zipCodes)
	const usZipCodes = zipCodes - cnZipCodes
	for i := range usZipCodes {
		d := i * len(usDivisions) / usZipCodes
		zips = append(zips, zip{
			code: fmt.Sprintf("%05d", 501+i*10), town: townName(i * (towns - 60) / usZipCodes),
			division: usDivisions[d], divisionIndex: d, us: true,
		})
	}
	const letters = "ABCEGHJKLMNPRSTVWXYZ"
	for i := range cnZipCodes {
		d := i * len(cnDivisions) / cnZipCodes
		l := func(n int) byte { return letters[n%len(letters)] }
		code := fmt.Sprintf("%c%d%c %d%c%d", l(d), i/2000%10, l(i/100), i/10%10, l(i*7+3), i%10)
		zips = append(zips, zip{code: code, town: townName(towns - 60 + i*60/cnZipCodes),
			division: cnDivisions[d], divisionIndex: len(usDivisions) + d})
	}

	var t taxTable
	for i := range 5 {
		t.us = append(t.us, tax{fmt.Sprintf("US%d", i+1), fmt.Sprintf("U.S. Income Tax bracket %d", i+1),
			TaxFraction(15_000 + 6_000*i)})
	}
	for i := range 4 {
		t.cn = append(t.cn, tax{fmt.Sprintf("CN%d", i+1), fmt.Sprintf("Canada Income Tax bracket %d", i+1),
			TaxFraction(16_000 + 5_000*i)})
	}
	for d, name := range append(append([]string(nil), usDivisions...), cnDivisions...) {
		brackets := 5 // 55 divisions with 5 brackets and 9 with 4 make 311
		if d%7 == 6 {
			brackets = 4
		}
		var list []tax
		for b := range brackets {
			list = append(list, tax{fmt.Sprintf("%s%d", name, b+1),
				fmt.Sprintf("%s Division Tax bracket %d", name, b+1), TaxFraction(d*70 + b*2_500)})
		}
		t.divisions = append(t.divisions, list)
	}
	return zips, t
}

func townName(i int) string { return lastName(int64(i)*239+17) + " City" }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
