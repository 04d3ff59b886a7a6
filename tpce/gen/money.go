package gen

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

// Cents is an exact amount of money, or a price, or a percentage with two decimals. Amounts never pass
// through a binary fraction: the consistency conditions compare them with =.
type Cents int64

// String prints the amount as SQL writes it.
func (c Cents) String() string { return string(appendDecimal(nil, int64(c), 2)) }

// Value hands the driver the decimal's text.
func (c Cents) Value() (driver.Value, error) { return c.String(), nil }

// Scan reads a DECIMAL of any scale, rounding half away from zero.
func (c *Cents) Scan(src any) error {
	v, err := scanDecimal(src, 2)
	*c = Cents(v)
	return err
}

// TaxFraction is a tax rate in units of 1/100,000.
type TaxFraction int64

func (f TaxFraction) String() string { return string(appendDecimal(nil, int64(f), 5)) }

// Value hands the driver the decimal's text.
func (f TaxFraction) Value() (driver.Value, error) { return f.String(), nil }

// Scan reads a DECIMAL.
func (f *TaxFraction) Scan(src any) error {
	v, err := scanDecimal(src, 5)
	*f = TaxFraction(v)
	return err
}

func appendDecimal(b []byte, v int64, scale int) []byte {
	if v < 0 {
		b = append(b, '-')
		v = -v
	}
	unit := int64(1)
	for range scale {
		unit *= 10
	}
	b = strconv.AppendInt(b, v/unit, 10)
	b = append(b, '.')
	frac := strconv.FormatInt(v%unit, 10)
	for range scale - len(frac) {
		b = append(b, '0')
	}
	return append(b, frac...)
}

func scanDecimal(src any, scale int) (int64, error) {
	switch v := src.(type) {
	case []byte:
		return parseDecimal(string(v), scale)
	case string:
		return parseDecimal(v, scale)
	case int64:
		return parseDecimal(strconv.FormatInt(v, 10), scale)
	case float64: // an engine that sums decimals to a double
		return parseDecimal(strconv.FormatFloat(v, 'f', scale+4, 64), scale)
	default:
		return 0, fmt.Errorf("gen: cannot read %T as a decimal", src)
	}
}

func parseDecimal(s string, scale int) (int64, error) {
	text := s
	neg := strings.HasPrefix(s, "-")
	whole, frac, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if whole+frac == "" || strings.ContainsAny(whole+frac, "+-") {
		return 0, fmt.Errorf("gen: %q is not a decimal", text)
	}
	roundUp := len(frac) > scale && frac[scale] >= '5'
	if len(frac) > scale {
		frac = frac[:scale]
	}
	v, err := strconv.ParseInt(whole+frac+strings.Repeat("0", scale-len(frac)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("gen: %q is not a decimal: %w", text, err)
	}
	if roundUp {
		v++
	}
	if neg {
		v = -v
	}
	return v, nil
}

func divRound(n, d int64) int64 { // half away from zero, d > 0
	if n < 0 {
		return -divRound(-n, d)
	}
	return (n + d/2) / d
}

// Commission is rate percent of quantity × price.
func Commission(rate Cents, quantity int64, price Cents) Cents {
	return Cents(divRound(int64(rate)*quantity*int64(price), 10_000))
}

// Tax is the tax on a gain; a loss is not taxed.
func Tax(gain Cents, rate TaxFraction) Cents {
	if gain <= 0 {
		return 0
	}
	return Cents(divRound(int64(gain)*int64(rate), 100_000))
}

// Settlement is what a completed trade adds to the account's balance. The tax is withheld for tax status 1
// only.
func Settlement(sell bool, quantity int64, price, charge, commission, tax Cents, taxStatus int) Cents {
	value := Cents(quantity) * price
	amount := -(value + charge + commission)
	if sell {
		amount = value - charge - commission
	}
	if taxStatus == 1 {
		amount -= tax
	}
	return amount
}
