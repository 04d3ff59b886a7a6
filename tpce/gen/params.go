package gen

import (
	"errors"
	"fmt"
	"sync"
)

// Params say which world. The zero value of a field means its default.
type Params struct {
	Customers   int    // 100, 200 … 900, or a multiple of 1,000; default 1,000
	Days        int    // initial trade days; default 10 (the specification: 300)
	ScaleFactor int    // customers for one Trade-Result a second; default 500, as the specification has it
	Seed        uint64 // default 1

	DailyMarketWeeks int // weeks of price history for each security; default 261, five years
	NewsBytes        int // length of a news article; default 100,000
}

func (p Params) withDefaults() Params {
	if p.Customers == 0 {
		p.Customers = 1000
	}
	if p.Days == 0 {
		p.Days = 10
	}
	if p.ScaleFactor == 0 {
		p.ScaleFactor = 500
	}
	if p.Seed == 0 {
		p.Seed = 1
	}
	if p.DailyMarketWeeks == 0 {
		p.DailyMarketWeeks = marketWeeks
	}
	if p.NewsBytes == 0 {
		p.NewsBytes = 100_000
	}
	return p
}

func (p Params) validate() error {
	switch {
	case p.Customers < 0 || p.Customers%100 != 0 || p.Customers > 1000 && p.Customers%1000 != 0:
		return fmt.Errorf("%d customers: use 100, 200 … 900 or a multiple of 1000", p.Customers)
	case p.Days < 0:
		return fmt.Errorf("%d days: use 1 or more", p.Days)
	case p.ScaleFactor < 0 || p.Days*28_800*min(p.Customers, 1000)%p.ScaleFactor != 0:
		return fmt.Errorf("scale factor %d does not divide the trades of a load unit: use 500, 1000 or 2000",
			p.ScaleFactor)
	case p.DailyMarketWeeks < 0 || p.DailyMarketWeeks > marketWeeks:
		return fmt.Errorf("%d weeks of daily market: use 1 to %d", p.DailyMarketWeeks, marketWeeks)
	case p.NewsBytes < 255 || p.NewsBytes > 100_000:
		return fmt.Errorf("%d bytes of news: use 255 to 100000", p.NewsBytes)
	}
	return nil
}

const (
	identShift     = 4_300_000_000 // makes ids exceed 32 bits
	firstTrade     = 200_000_000_000_000
	companiesPerLU = 500
)

// Universe answers every question about one world. It is immutable and safe for concurrent use.
type Universe struct {
	Params
	units      int // load units
	unitSize   int // customers in a load unit
	permInv    int // inverse of permMul modulo unitSize
	brokersPer int // brokers in a load unit
	zips       []zip
	taxes      taxTable
	securities []security
	bySymbol   map[string]int

	totals func() Totals
}

const permMul = 677

// New builds the world, or says which parameter is impossible.
func New(p Params) (*Universe, error) {
	p = p.withDefaults()
	if err := p.validate(); err != nil {
		return nil, errors.Join(errors.New("tpce: impossible size"), err)
	}
	u := &Universe{Params: p, units: max(1, p.Customers/1000), unitSize: min(p.Customers, 1000)}
	u.brokersPer = max(1, u.unitSize/100)
	for permMul*u.permInv%u.unitSize != 1 {
		u.permInv++
	}
	u.zips, u.taxes = buildPlaces()
	u.securities = u.buildSecurities()
	u.bySymbol = make(map[string]int, len(u.securities))
	for i, s := range u.securities {
		u.bySymbol[s.symbol] = i
	}
	u.totals = sync.OnceValue(u.countAll)
	return u, nil
}

// LoadUnits is the number of load units; their histories are independent.
func (u *Universe) LoadUnits() int { return u.units }

// tradesPerUnit is exact: validate has seen to it.
func (u *Universe) tradesPerUnit() int64 {
	return int64(u.Days) * 28_800 * int64(u.unitSize) / int64(u.ScaleFactor)
}

// sequencePerUnit is the block of trade numbers of one load unit. One number of 101 is an aborted order and
// has no row; a multiple of 101 gives every unit the same pattern.
func (u *Universe) sequencePerUnit() int64 { return (u.tradesPerUnit()/100 + 1) * 101 }

// FirstRuntimeTrade is above every trade of the initial history.
func (u *Universe) FirstRuntimeTrade() int64 {
	return firstTrade + int64(u.units)*u.sequencePerUnit() + 1
}
