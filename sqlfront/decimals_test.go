package sqlfront_test

import "testing"

// TestConstantsBetweenDecimals: a constant with more decimals than the column is compared as it is, and not
// as what it is rounded to: DELETE … WHERE w = 2.499 took the row 2.50.
func TestConstantsBetweenDecimals(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, `create table r (id int primary key, w decimal(12,2), n decimal(12,2),
		u decimal(6,2) unique, key (w))`,
		"insert into r values (1, -2.13, -2.13, 1.25), (2, -2.12, -2.12, 2.5), (3, 1.5, 1.5, 7)")
	for _, cache := range []string{"set moka_plan_cache = 0", "set moka_plan_cache = 1"} {
		run(t, c, cache)
		for range 3 {
			script{
				{"select id from r where u = 1.251", ""},
				{"select id from r where u <=> 2.499", ""},
				{"select id from r where u = 1.25", "1"},
				{"select id from r where u = 1.2500", "1"},
				{"select id from r where (1.251) = (u)", ""},
				{"select id from r where u = 1.251e0", ""},
				{"select id from r where u in (1.251, 7)", "3"},
				{"update r set n = 9 where u = 1.251", ""}, {"delete from r where u = 2.499", ""},
			}.run(t, c)
			for _, w := range []string{"w", "n"} {
				script{
					{"select id from r where " + w + " between -2.125 and 0 order by id", "2"},
					{"select id from r where " + w + " >= -2.125 order by id", "2;3"},
					{"select id from r where " + w + " < -2.125 order by id", "1"},
					{"select id from r where " + w + " < 1.504 order by id", "1;2;3"},
					{"select id from r where " + w + " <= 1.496 order by id", "1;2"},
					{"select id from r where " + w + " >= 1.504 order by id", ""},
					{"select id from r where " + w + " > 1.496 order by id", "3"},
					{"select id from r where " + w + " > -2.125 order by id", "2;3"},
					{"select id from r where not (" + w + " <> 1.501)", ""},
				}.run(t, c)
			}
		}
	}
	run(t, c, "create table m (id int primary key, v decimal(10,4), f double, check (v < 2.49995))",
		"insert into m values (1, 1.2512, 1.251), (2, 2.4999, 2.5), (3, 1.25, 1.25)", "set @v = 1.251")
	wantError(t, c, "insert into m values (4, 2.5, 0)", 3819)
	for _, cache := range []string{"set moka_plan_cache = 0", "set moka_plan_cache = 1"} {
		run(t, c, cache)
		for range 3 {
			script{
				{"select r.id, m.id from r join m on r.u = m.v", "1 3"},
				{"select r.id, m.id from m join r on m.v = r.u", "1 3"},
				{"select r.id, m.id from r join m on r.n = m.v + 0.25", "3 3"},
				{"select r.id, m.id from r left join m on r.u < m.v order by 1, 2", "1 1;1 2;2 NULL;3 NULL"},
				{"select r.id, m.id from r join m on r.u = m.f order by 1, 2", "1 3;2 2"},
				{"select id from r where (u, id) = (1.251, 1)", ""},
				{"select id from r where (u, id) in ((1.251, 1), (2.5, 2))", "2"},
				{"select id from r where u = @v", ""},
				{"select id from r where u >= @v order by id", "2;3"},
				{"select id from r where u = (select max(v) - 1.2487 from m)", ""},
				{"select case u when 1.251 then 1 end, nullif(u, 1.251) from r where id = 1", "NULL 1.25"},
				{"select id from r where u + 0 = 1.251", ""},
				{"select id from r where u = '1.251'", ""},
				{"select id from r where cast(u as decimal(6,1)) = 1.26", ""},
				{"select id from r where u between 1.2499 and '1.2501'", "1"},
				{"select max(id) from r group by u having u = 2.501", ""},
				{"select u > 1.249, u >= 1.251, 1.249 < u from r where id = 1", "1 0 1"},
				{"select id from r where u < 1e30 and u > -1e30 and u < 99999999.999 order by 1", "1;2;3"},
			}.run(t, c)
		}
	}
	p, err := c.PrepareContext(t.Context(), "select count(*) from r where u = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, v := range []any{1.251, "1.25", 1.25, 2.499} {
		var n int
		err := p.QueryRowContext(t.Context(), v).Scan(&n)
		if err != nil || n == 1 != (v == "1.25" || v == 1.25) {
			t.Errorf("u = %v finds %d rows, %v", v, n, err)
		}
	}
	want(t, c, "select count(*) from r", "3")
}
