package tpce

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Data-Maintenance keeps tables that nobody else writes from being read-only: every minute a small change to
// the next of twelve. It runs on a connection of its own and is in no mix. Each change undoes or continues
// the one before, so that the database does not drift, and none changes the number of rows.

type maintenanceInput struct {
	table     int // 0 to 11
	account   int64
	customer  int64
	company   int64 // 0 when the customer's address is meant
	symbol    string
	day       int64
	increment int64
	tax       string
	now       time.Time
}

func drawDataMaintenance(u *gen.Universe, r *gen.Rand, table int, now time.Time) maintenanceInput {
	in := maintenanceInput{
		table: table, account: gen.AccountID(u.ChooseAccount(r)),
		customer: gen.CustomerID(int(r.Int(1, int64(u.Customers)))),
		symbol:   u.Symbol(int(r.Int(0, int64(u.Securities()-1)))), day: r.Int(1, 31),
		increment: r.Int(-2, 3),
		tax:       u.ChooseDivisionTax(r), now: now,
	}
	if in.increment == 0 {
		in.increment = -3
	}
	if maintained[table].name != "address" || !r.Percent(67) {
		in.company = gen.CompanyID(int(r.Int(0, int64(u.Companies()-1))))
	}
	return in
}

// maintained are the tables in the order of their turn.
var maintained = []struct {
	name   string
	change func(*dataMaintenance, context.Context) error
}{
	{"account_permission", (*dataMaintenance).accountPermission},
	{"address", (*dataMaintenance).address},
	{"company", (*dataMaintenance).companyRating},
	{"customer", (*dataMaintenance).customerEmail},
	{"customer_taxrate", (*dataMaintenance).customerTaxrate},
	{"daily_market", (*dataMaintenance).dailyMarket},
	{"exchange", (*dataMaintenance).exchange},
	{"financial", (*dataMaintenance).financial},
	{"news_item", (*dataMaintenance).newsItem},
	{"security", (*dataMaintenance).securityDate},
	{"taxrate", (*dataMaintenance).taxrate},
	{"watch_item", (*dataMaintenance).watchItem},
}

type dataMaintenance struct {
	*client.Session
	in      maintenanceInput
	changed int64 // rows
}

func (t *dataMaintenance) run(ctx context.Context) error {
	t.changed = 0
	m := maintained[t.in.table]
	if err := m.change(t, ctx); err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	return nil
}

// update counts the rows of a change.
func (t *dataMaintenance) update(ctx context.Context, query string, args ...any) error {
	n, err := t.ExecCount(ctx, query, args...)
	t.changed += n
	return err
}

func (t *dataMaintenance) accountPermission(ctx context.Context) error {
	var acl string
	err := t.Row(ctx, "SELECT ap_acl FROM account_permission WHERE ap_ca_id = ? ORDER BY ap_acl DESC LIMIT 1",
		[]any{t.in.account}, &acl)
	if err != nil {
		return err
	}
	next := "1111"
	if acl == next {
		next = "0011"
	}
	return t.update(ctx, "UPDATE account_permission SET ap_acl = ? WHERE ap_ca_id = ? AND ap_acl = ?", next,
		t.in.account, acl)
}

func (t *dataMaintenance) address(ctx context.Context) error {
	var line sql.NullString
	var id int64
	var err error
	if t.in.company != 0 {
		err = t.Row(ctx, "SELECT ad_line2, ad_id FROM address JOIN company ON co_ad_id = ad_id WHERE co_id "+
			"= ?", []any{t.in.company}, &line, &id)
	} else {
		err = t.Row(ctx, "SELECT ad_line2, ad_id FROM address JOIN customer ON c_ad_id = ad_id WHERE c_id "+
			"= ?", []any{t.in.customer}, &line, &id)
	}
	if err != nil {
		return err
	}
	return t.update(ctx, "UPDATE address SET ad_line2 = ? WHERE ad_id = ?",
		other(line.String, "Apt. 10C", "Apt. 22"), id)
}

// other is first, unless that is what is there.
func other(is, first, second string) string {
	if is == first {
		return second
	}
	return first
}

func (t *dataMaintenance) companyRating(ctx context.Context) error {
	var rating string
	if err := t.Row(ctx, "SELECT co_sp_rate FROM company WHERE co_id = ?", []any{t.in.company},
		&rating); err != nil {
		return err
	}
	return t.update(ctx, "UPDATE company SET co_sp_rate = ? WHERE co_id = ?", other(rating, "ABA", "AAA"),
		t.in.company)
}

func (t *dataMaintenance) customerEmail(ctx context.Context) error {
	var email string
	if err := t.Row(ctx, "SELECT c_email_2 FROM customer WHERE c_id = ?", []any{t.in.customer},
		&email); err != nil {
		return err
	}
	box, domain, _ := strings.Cut(email, "@")
	email = box + "@" + other(domain, "mindspring.com", "earthlink.com")
	return t.update(ctx, "UPDATE customer SET c_email_2 = ? WHERE c_id = ?", email, t.in.customer)
}

// customerTaxrate moves the customer to its country's next rate: an update of a primary key.
func (t *dataMaintenance) customerTaxrate(ctx context.Context) error {
	var id string
	err := t.Row(ctx, "SELECT cx_tx_id FROM customer_taxrate WHERE cx_c_id = ? AND (cx_tx_id LIKE 'US%' OR "+
		"cx_tx_id LIKE 'CN%')",
		[]any{t.in.customer}, &id)
	if err != nil {
		return err
	}
	last := byte('5')
	if strings.HasPrefix(id, "CN") {
		last = '4'
	}
	next := id[:2] + "1"
	if id[2] < last {
		next = id[:2] + string(id[2]+1)
	}
	return t.update(ctx, "UPDATE customer_taxrate SET cx_tx_id = ? WHERE cx_c_id = ? AND cx_tx_id = ?", next,
		t.in.customer, id)
}

func (t *dataMaintenance) dailyMarket(ctx context.Context) error {
	return t.update(ctx, "UPDATE daily_market SET dm_vol = dm_vol + ? WHERE dm_s_symb = ? AND EXTRACT(DAY "+
		"FROM dm_date) = ?",
		t.in.increment, t.in.symbol, t.in.day)
}

const lastUpdated = " LAST UPDATED "

func (t *dataMaintenance) exchange(ctx context.Context) error {
	descriptions := map[string]string{}
	err := t.Each(ctx, "SELECT ex_id, ex_desc FROM exchange", nil, func(rows *sql.Rows) error {
		var id string
		var text sql.NullString
		err := rows.Scan(&id, &text)
		descriptions[id] = text.String
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range sortedKeys(descriptions) {
		text, _, _ := strings.Cut(descriptions[id], lastUpdated)
		if err := t.update(ctx, "UPDATE exchange SET ex_desc = ? WHERE ex_id = ?",
			text+lastUpdated+t.in.now.Format(time.DateTime), id); err != nil {
			return err
		}
	}
	return nil
}

func (t *dataMaintenance) financial(ctx context.Context) error {
	var onFirst int64
	err := t.Row(ctx, "SELECT COUNT(*) FROM financial WHERE fi_co_id = ? AND EXTRACT(DAY FROM "+
		"fi_qtr_start_date) = 1", []any{t.in.company}, &onFirst)
	if err != nil {
		return err
	}
	sign := "-"
	if onFirst > 0 {
		sign = "+"
	}
	return t.update(ctx, "UPDATE financial SET fi_qtr_start_date = fi_qtr_start_date "+sign+" INTERVAL '1' DAY WHERE fi_co_id = ?", t.in.company)
}

func (t *dataMaintenance) newsItem(ctx context.Context) error {
	return t.update(ctx, "UPDATE news_item SET ni_dts = ni_dts + INTERVAL '1' DAY WHERE ni_id IN (SELECT "+
		"nx_ni_id FROM news_xref WHERE nx_co_id = ?)", t.in.company)
}

func (t *dataMaintenance) securityDate(ctx context.Context) error {
	return t.update(ctx, "UPDATE security SET s_exch_date = s_exch_date + INTERVAL '1' DAY WHERE s_symb = ?",
		t.in.symbol)
}

func (t *dataMaintenance) taxrate(ctx context.Context) error {
	var name string
	if err := t.Row(ctx, "SELECT tx_name FROM taxrate WHERE tx_id = ?", []any{t.in.tax}, &name); err != nil {
		return err
	}
	if strings.Contains(name, " Tax ") {
		name = strings.Replace(name, " Tax ", " tax ", 1)
	} else {
		name = strings.Replace(name, " tax ", " Tax ", 1)
	}
	return t.update(ctx, "UPDATE taxrate SET tx_name = ? WHERE tx_id = ?", name, t.in.tax)
}

// watchItem puts in the place of the list's middle symbol the next one that the list lacks: an
// update of a primary key.
func (t *dataMaintenance) watchItem(ctx context.Context) error {
	var list int64
	var symbols []string
	err := t.Each(ctx, "SELECT wl_id, wi_s_symb FROM watch_list JOIN watch_item ON wi_wl_id = wl_id WHERE "+
		"wl_c_id = ? ORDER BY wi_s_symb",
		[]any{t.in.customer}, func(rows *sql.Rows) error {
			var symbol string
			err := rows.Scan(&list, &symbol)
			symbols = append(symbols, symbol)
			return err
		})
	if err != nil || len(symbols) == 0 {
		return err
	}
	old, next := symbols[(len(symbols)+1)/2-1], ""
	err = t.Row(ctx, `SELECT s_symb FROM security WHERE s_symb > ? AND s_symb NOT IN (SELECT wi_s_symb FROM watch_item WHERE wi_wl_id = ?)
ORDER BY s_symb ASC LIMIT 1`, []any{old, list}, &next)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.update(ctx, "UPDATE watch_item SET wi_s_symb = ? WHERE wi_wl_id = ? AND wi_s_symb = ?", next,
		list, old)
}
