package rowenc

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func zone(t testing.TB, name string) (*Zone, *time.Location) {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return NewZone(loc), loc
}

var zoneNames = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca",
	"Pacific/Apia", "Asia/Kolkata", "Africa/Monrovia", "America/Caracas"}

func clockOf(at time.Time, loc *time.Location) time.Time {
	l := at.In(loc)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), time.UTC)
}

// Each instant is shown as the tz database says, and comes back as itself: by itself where it is the first
// with its time of day, by its mark where it is the second.
func TestZoneRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range zoneNames {
		z, loc := zone(t, name)
		var moments []int64
		for range 20000 {
			moments = append(moments, MinInstant+rng.Int64N(MaxInstant-MinInstant))
		}
		for _, s := range z.starts[1:] {
			for i := int64(-30); i <= 30; i++ {
				moments = append(moments, s+i*5*60_000_000, s+i*5*60_000_000-1)
			}
		}
		for _, u := range moments {
			local := z.Local(u)
			if want := clockOf(time.UnixMicro(u), loc); !local.Equal(want) {
				t.Fatalf("%s: %v is %v, not %v", name, time.UnixMicro(u).UTC(), local, want)
			}
			if back, ok := z.Instant(local); !ok || back != u {
				t.Fatalf("%s: %v came back as %v, %v", name, time.UnixMicro(u).UTC(),
					time.UnixMicro(back).UTC(), ok)
			}
			first, last, ok := z.instants(local.UnixMicro())
			if !ok || u != first && u != last || Marked(local) != (first != last && u == last) {
				t.Fatalf("%s: %v: %v %v %v, marked %v", name, u, first, last, ok, Marked(local))
			}
		}
	}
	if NewZone(time.UTC) != nil {
		t.Error("UTC is no zone")
	}
	if z := NewZone(time.FixedZone("", -3600)); !z.Fixed() || z.Local(0).Hour() != 23 {
		t.Error("an offset")
	}
}

func TestZoneTurns(t *testing.T) {
	z, _ := zone(t, "Europe/Berlin")
	at := func(s string) time.Time {
		v, err := time.Parse(time.DateTime, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	u, ok := z.Instant(at("2018-03-25 02:30:00"))
	if ok || !time.UnixMicro(u).Equal(at("2018-03-25 01:00:00")) {
		t.Errorf("what clocks left out: %v %v", time.UnixMicro(u).UTC(), ok)
	}
	u, ok = z.Instant(at("2018-10-28 02:30:00"))
	if !ok || !time.UnixMicro(u).Equal(at("2018-10-28 00:30:00")) {
		t.Errorf("what comes twice: %v %v", time.UnixMicro(u).UTC(), ok)
	}
	if _, ok := z.Only(at("2018-10-28 02:30:00")); ok {
		t.Error("two instants are not one")
	}
	if !z.Unmarked(at("2018-10-28 02:30:00")) || z.Unmarked(z.Local(at("2018-10-28 01:30:00").UnixMicro())) ||
		z.Unmarked(at("2018-10-28 03:00:00")) {
		t.Error("Unmarked")
	}
	if v := z.Local(zeroInstant); !v.Equal(types.ZeroTime) {
		t.Errorf("zero became %v", v)
	}
	if u, ok := z.Instant(types.ZeroTime); !ok || u != zeroInstant {
		t.Errorf("zero became %v", u)
	}
}

// Rows and keys hold the same bytes whatever the zone of who writes them, and marks survive them.
func TestZoneCodecs(t *testing.T) {
	ctx := context.Background()
	z, _ := zone(t, "Europe/Berlin")
	for _, u := range []int64{1540686600e6, 1540690200e6, 1521939600e6, 1521939599e6, MinInstant, MaxInstant,
		zeroInstant} {
		utc, local := time.UnixMicro(u).UTC(), z.Local(u)
		var rows, keys [2][]byte
		for i, zone := range []*Zone{nil, z} {
			v := []time.Time{utc, local}[i]
			rc, err := NewRowCodec([]Column{{ID: 1, Type: types.TimestampMaxPrecision, Zone: zone},
				{ID: 2, Type: types.DatetimeMaxPrecision, Zone: zone}})
			if err != nil {
				t.Fatal(err)
			}
			kc, err := NewKeyCodec([]KeyPart{{Type: types.TimestampMaxPrecision, Zone: zone}})
			if err != nil {
				t.Fatal(err)
			}
			if rows[i], err = rc.Encode(ctx, nil, sql.Row{v, utc}); err != nil {
				t.Fatal(err)
			}
			if keys[i], err = kc.EncodeRow(ctx, nil, sql.Row{v}, []int{0}); err != nil {
				t.Fatal(err)
			}
			row, err := rc.Decode(rows[i])
			if err != nil || !row[0].(time.Time).Equal(v) || Marked(row[0].(time.Time)) != Marked(v) ||
				!row[1].(time.Time).Equal(utc) {
				t.Fatalf("%v: %v %v", v, row, err)
			}
			values := make([]any, 1)
			if _, err := kc.Decode(keys[i], values); err != nil || !values[0].(time.Time).Equal(v) ||
				Marked(values[0].(time.Time)) != Marked(v) {
				t.Fatalf("%v: %v %v", v, values, err)
			}
		}
		if !bytes.Equal(rows[0], rows[1]) || !bytes.Equal(keys[0], keys[1]) {
			t.Errorf("%v: %x %x, %x %x", utc, rows[0], rows[1], keys[0], keys[1])
		}
	}
}

// A span has the keys of all instants whose times of day are in the range; one that is exact has no others.
func TestZoneSpans(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range zoneNames {
		z, _ := zone(t, name)
		kc, err := NewKeyCodec([]KeyPart{{Type: types.Timestamp, Zone: z}})
		if err != nil {
			t.Fatal(err)
		}
		exact, wide := 0, 0
		for _, s := range z.starts[1:] {
			if s < MinInstant || s > MaxInstant {
				continue
			}
			near := func(steps int64) time.Time {
				return time.UnixMicro(s + (rng.Int64N(2*steps)-steps)*600_000_000 +
					z.offsets[z.segment(s)]).UTC()
			}
			for range 20 {
				low, high := near(12), near(12)
				if rng.IntN(3) == 0 {
					high = low
				}
				r := sql.MySQLRangeColumnExpr{LowerBound: sql.Below{Key: low},
					UpperBound: sql.Above{Key: high}, Typ: types.Timestamp}
				open := [2]bool{rng.IntN(2) == 0, rng.IntN(2) == 0}
				if open[0] {
					r.LowerBound = sql.Above{Key: low}
				}
				if open[1] {
					r.UpperBound = sql.Below{Key: high}
				}
				span, err := kc.Span(ctx, nil, sql.MySQLRange{r})
				if err != nil {
					t.Fatal(err)
				}
				if span.Exact {
					exact++
				} else {
					wide++
				}
				for step := int64(-40); step <= 40; step++ {
					u := s + step*300_000_000
					local := z.Local(u)
					in := (local.After(low) || !open[0] && local.Equal(low)) &&
						(local.Before(high) || !open[1] && local.Equal(high))
					key, err := kc.EncodeRow(ctx, nil, sql.Row{local}, []int{0})
					if err != nil {
						t.Fatal(err)
					}
					has := bytes.Compare(key, span.Start) >= 0 && bytes.Compare(key, span.End) < 0
					if in && !has || has && !in && span.Exact {
						t.Fatalf("%s: %v..%v open %v: %v: in %v, has %v, %v", name, low, high, open, local,
							in, has, span)
					}
				}
			}
		}
		if len(z.starts) > 1 && exact == 0 || name == "Europe/Berlin" && wide == 0 {
			t.Errorf("%s: %d exact, %d wide", name, exact, wide)
		}
	}
}
