package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/parse"
)

func textParser(o *engine.Options) { o.Parser = parse.New(parse.Hooks{}) }

// vocabulary has words that are equal under the collation, stopwords and short ones.
var vocabulary = []string{"alpha", "Alpha", "älpha", "beta", "betamax", "gamma", "delta", "the", "with", "ab", "omega", "epsilon", "Zeta", "eta", "theta", "iota1", "un_der"}

// meaning is the word of the index, "" if there is none.
func meaning(word string) string {
	word = strings.NewReplacer("ä", "a").Replace(strings.ToLower(word))
	if len(word) < 3 || word == "the" || word == "with" {
		return ""
	}
	return word
}

// doc is a row of the model.
type doc struct {
	title, body string // words with something between them; a body of "NULL" is none
	k           int
}

func (d doc) has(word string, prefix bool) bool {
	text := d.title
	if d.body != "NULL" {
		text += "," + d.body
	}
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,.-'", r) }), func(w string) bool {
		m := meaning(w)
		return m != "" && (m == word || prefix && strings.HasPrefix(m, word))
	})
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for i := range r.IntN(9) {
		if i > 0 {
			b.WriteString([]string{" ", ", ", ". ", "-", "''"}[r.IntN(5)])
		}
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
	}
	return b.String()
}

func quoted(s string) string {
	if s == "NULL" {
		return s
	}
	return "'" + s + "'"
}

// asked is a random question, and the model's answer to it.
func asked(r *rand.Rand, docs map[int]doc) (where string, ids []int) {
	type item struct {
		op     byte
		word   string
		prefix bool
	}
	var items []item
	boolean := r.IntN(3) > 0
	var text []string
	for range 1 + r.IntN(4) {
		w := vocabulary[r.IntN(len(vocabulary))]
		it := item{op: ' ', word: meaning(w)}
		if boolean {
			it.op = " +-><~"[r.IntN(6)]
			if r.IntN(4) == 0 {
				w = w[:min(len(w), 4)]
				if strings.HasPrefix(w, "ä") || strings.HasPrefix(w, "Ä") {
					w = "alph"
				}
				it.word, it.prefix = strings.ToLower(w), true
				w += "*"
			}
		}
		items = append(items, it)
		text = append(text, strings.TrimSpace(string(it.op)+w))
	}
	mode := " in natural language mode"
	if boolean {
		mode = " in boolean mode"
	}
	for id, d := range docs {
		must, some, out := false, false, false
		for _, it := range items {
			found := it.word != "" && d.has(it.word, it.prefix)
			switch it.op {
			case '+':
				must = true
				out = out || !found
			case '-':
				out = out || found
			case '~':
			default:
				some = some || found
			}
		}
		if !out && (must || some) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return fmt.Sprintf("match (title, body) against ('%s'%s)", strings.Join(text, " "), mode), ids
}

// TestFullTextModel changes rows in all ways, in transactions that end both ways, and compares what MATCH finds with a model that knows
// nothing of indexes; and the indexes with the rows.
func TestFullTextModel(t *testing.T) {
	seeds, steps := 4, 150
	if n, _ := strconv.Atoi(os.Getenv("MOKA_FULLTEXT_SEEDS")); n > 0 {
		seeds, steps = n, 1000
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 17))
			s := newServer(t, textParser)
			c := s.session("")
			c.exec("create database d")
			c.sess.SetCurrentDatabase("d")
			collation := []string{"utf8mb4_0900_ai_ci", "utf8mb4_unicode_ci"}[seed%2]
			key := "int primary key"
			if seed%4 == 3 {
				key = "int, unique key (id)" // a table without a primary key
			}
			c.exec("create table t (id %s, title varchar(200) not null, body text, k int, fulltext key ft (title, body), fulltext key (body)) collate %s", key, collation)
			c.exec("create table parent (id int primary key)")
			docs, before := map[int]doc{}, map[int]doc(nil)
			anyID := func() int {
				for id := range docs {
					return id
				}
				return r.IntN(60)
			}
			value := func(id int, d doc) string {
				return fmt.Sprintf("(%d, '%s', %s, %d)", id, d.title, quoted(d.body), d.k)
			}
			fresh := func() doc {
				d := doc{randomText(r), randomText(r), r.IntN(5)}
				if r.IntN(8) == 0 {
					d.body = "NULL"
				}
				return d
			}
			for step := range steps {
				id, d := r.IntN(60), fresh()
				switch op := r.IntN(12); op {
				case 0, 1, 2:
					c.exec("replace into t values %s", value(id, d))
					docs[id] = d
				case 3:
					was, exists := docs[id]
					c.exec("insert into t values %s on duplicate key update body = values(body)", value(id, d))
					if exists {
						was.body = d.body
						d = was
					}
					docs[id] = d
				case 4:
					c.exec("insert ignore into t values %s", value(id, d))
					if _, exists := docs[id]; !exists {
						docs[id] = d
					}
				case 5:
					id = anyID()
					if was, ok := docs[id]; ok {
						c.exec("update t set title = '%s' where id = %d", d.title, id)
						was.title = d.title
						docs[id] = was
					}
				case 6:
					c.exec("update t set k = k + 1 where id = %d", id)
					if was, ok := docs[id]; ok {
						was.k++
						docs[id] = was
					}
				case 7:
					from := anyID()
					if _, taken := docs[id]; !taken {
						if was, ok := docs[from]; ok {
							c.exec("update t set id = %d where id = %d", id, from)
							delete(docs, from)
							docs[id] = was
						}
					}
				case 8:
					c.exec("delete from t where id = %d", id)
					delete(docs, id)
				case 9: // by what the index finds
					where, ids := asked(r, docs)
					if len(ids) < 6 {
						c.exec("delete from t where %s", where)
						for _, id := range ids {
							delete(docs, id)
						}
					} else {
						c.exec("update t set body = '%s' where %s", d.body, where)
						for _, id := range ids {
							was := docs[id]
							was.body = strings.ReplaceAll(d.body, "''", "'")
							docs[id] = was
						}
						if d.body == "NULL" { // the text, here
							c.exec("update t set body = null where body = 'NULL'")
						}
					}
				case 10:
					if before == nil {
						c.exec("begin")
						before = map[int]doc{}
						for id, d := range docs {
							before[id] = d
						}
					} else if r.IntN(2) == 0 {
						c.exec("commit")
						before = nil
					} else {
						c.exec("rollback")
						docs, before = before, nil
					}
				case 11:
					if code := c.code(fmt.Sprintf("insert into t values %s, %s", value(id, d), value(id, d))); code != 1062 {
						t.Fatalf("a row twice: %d", code)
					}
				}
				for range 2 {
					where, ids := asked(r, docs)
					want := make([]string, len(ids))
					for i, id := range ids {
						want[i] = fmt.Sprint(id)
					}
					if len(want) == 0 {
						want = []string{"ok"}
					}
					c.want("select id from t where "+where+" order by id", want...)
					if step%10 == 0 { // where the rows come from elsewhere
						c.want("select id from t where "+where+" or id is null order by id", want...)
						c.want("select id from (select id, "+where+" <> 0 m from t) x where m order by id", want...)
					}
				}
				if step%25 == 24 && before == nil {
					s.checked()
				}
			}
			if before != nil {
				c.exec("rollback")
			}
			s.checked()
		})
	}
}

// TestFullTextReads counts what is looked at: the entries of the words, and the rows that they lead to.
func TestFullTextReads(t *testing.T) {
	const n = 2000
	s := newServer(t, textParser)
	c := s.session("")
	c.exec("create database d")
	c.sess.SetCurrentDatabase("d")
	c.exec("create table t (id int primary key, a int, body text, key (a), fulltext key ft (body))")
	for from := 0; from < n; from += 500 {
		var rows []string
		for i := from; i < from+500; i++ {
			rows = append(rows, fmt.Sprintf("(%d, %d, 'common word%d half%d rare%d')", i, i%40, i%100, i%2, i))
		}
		c.exec("insert into t values %s", strings.Join(rows, ","))
	}
	c.exec("create table other (id int primary key, t int)")
	c.exec("insert into other values (1, 77), (2, 177)")
	for _, q := range []struct {
		query, want string
		rows        uint64
	}{
		{"select id from t where match (body) against ('rare77')", "77", 4},
		{"select count(*) from t where match (body) against ('word77')", "20", 44},
		{"select count(*) from t where match (body) against ('+word77 +rare77' in boolean mode)", "1", 30},
		{"select count(*) from t where match (body) against ('word77 word78')", "40", 84},
		{"select count(*) from t where match (body) against ('rare77*' in boolean mode)", "11", 30},
		{"select count(*) from t where match (body) against ('\"half1 rare77\"' in boolean mode)", "1", 1100},
		{"select id from t where match (body) against ('rare77') and a > 3", "77", 4},
		{"select id from t where match (body) against ('word77') order by a, id limit 2", "177\n377", 44},
		{"select id from t where match (body) against ('word77') order by id desc limit 2", "1977\n1877", 44},
		{"select id from t where match (body) against ('word77' in boolean mode) > 0 order by id limit 1", "77", 64},
		{"select id from t where match (body) against ('common' in boolean mode) limit 3", "0\n1\n2", 60},
		{"select o.id, t.id from other o join t on t.id = o.t where match (t.body) against ('word77') order by o.id", "1 | 77\n2 | 177", 60},
		{"select max(id) from t where match (body) against ('word77')", "1977", 44},
		{"select id, match (body) against ('rare77') > 0 from t where match (body) against ('rare77')", "77 | 1", 6},
		{"select id from t where id = 77 and match (body) against ('common')", "77", 2},
	} {
		c.text(q.query) // what the catalog and the statistics take
		before := s.eng.ReadStats().Rows
		c.want(q.query, strings.Split(q.want, "\n")...)
		if rows := s.eng.ReadStats().Rows - before; rows > q.rows {
			t.Errorf("%s: %d rows were looked at, %d are enough\n%s", q.query, rows, q.rows, c.text("explain "+q.query))
		}
	}
	if plan := c.text("explain select id from t where match (body) against ('rare77') and a > 3"); !strings.Contains(plan, "fulltext | ft | ft") {
		t.Error(plan)
	}
	// No other statement takes the index for one of its kind.
	for _, q := range []string{
		"select id from t where body = 'common'", "select id from t where body like 'rare%'", "select id from t order by body limit 1",
		"select t.id from other join t on t.body = other.t", "select min(body) from t", "select distinct body from t",
	} {
		if plan := c.text("explain " + q); strings.Contains(plan, "ft") {
			t.Errorf("%s\n%s", q, plan)
		}
	}
	if code := c.code("create table child (body text, foreign key (body) references t (body))"); code == 0 {
		t.Error("a foreign key to a FULLTEXT index")
	}
	c.exec("set moka_query_memory = 20000")
	if code := c.code("select count(*) from t where match (body) against ('rare*' in boolean mode)"); code != 3170 {
		t.Errorf("more words with a beginning than there is memory for: %d", code)
	}
	c.want("select count(*) from t where match (body) against ('common' in boolean mode)", fmt.Sprint(n))
}

// TestFullTextOnline builds the index on one server while writers are at work on another, and takes it away again.
func TestFullTextOnline(t *testing.T) {
	c := newCluster(t)
	a, _ := c.processWith(time.Hour, textParser)
	b, _ := c.processWith(time.Hour, textParser)
	s := a.session("")
	fillTexts(s)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 2 {
		writer := b.session("d")
		writers.Add(1)
		go func() {
			defer writers.Done()
			r := rand.New(rand.NewPCG(uint64(w), 3))
			for {
				select {
				case <-stop:
					return
				default:
				}
				id := r.IntN(jobRows)
				for _, q := range []string{
					fmt.Sprintf("update t set body = '%s' where id = %d", randomText(r), id),
					fmt.Sprintf("delete from t where id = %d", id+1),
					fmt.Sprintf("replace into t values (%d, 'new', '%s')", id+1, randomText(r)),
				} {
					if _, _, err := writer.run(q); err != nil && !engine.IsRetryable(err) {
						t.Errorf("%s: %v", q, err)
						return
					}
				}
			}
		}()
	}
	done := sync.OnceFunc(func() {
		close(stop)
		writers.Wait()
	})
	defer done()
	persist := func(q string) { // among writers that never rest a schema change may lose again and again
		for i := 0; ; i++ {
			if _, _, err := s.run(q); err == nil {
				return
			} else if !engine.IsRetryable(err) || i == 1000 {
				t.Fatalf("%s: %v", q, err)
			}
		}
	}
	for range 2 {
		persist("alter table t add fulltext ft (title, body)")
		a.checked()
		persist("drop index ft on t")
	}
	persist("create fulltext index ft on t (title, body)")
	done()
	a.checked()
	b.checked()
	docs := map[int]doc{}
	_, rows, err := s.run("select id, title, body from t")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		docs[int(r[0].(int32))] = doc{title: r[1].(string), body: r[2].(string)}
	}
	r := rand.New(rand.NewPCG(9, 9))
	reader := b.session("d")
	for range 20 {
		where, ids := asked(r, docs)
		reader.want("select count(*) from t where "+where, fmt.Sprint(len(ids)))
	}
}

func fillTexts(s *session) {
	s.exec("create database d")
	s.sess.SetCurrentDatabase("d")
	s.exec("create table t (id int primary key, title varchar(100), body text)")
	r := rand.New(rand.NewPCG(1, 2))
	var rows []string
	for i := range jobRows {
		rows = append(rows, fmt.Sprintf("(%d, '%s', '%s')", i, randomText(r), randomText(r)))
	}
	s.exec("insert into t values " + strings.Join(rows, ","))
}

// TestFullTextBackfillGoesOnElsewhere kills the process that builds the index; another one finishes it.
func TestFullTextBackfillGoesOnElsewhere(t *testing.T) {
	for _, after := range []int64{25, 60} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			c := newCluster(t)
			a, way := c.processWith(time.Hour, textParser)
			s := a.session("")
			fillTexts(s)
			b, _ := c.processWith(testLease, textParser)
			way.die(after)
			if s.code("create fulltext index ft on t (title, body)") == 0 {
				t.Fatalf("the statement takes fewer than %d requests", after)
			}
			if j := b.job(catalog.JobDone); j.Rows != jobRows || j.Resumed != 1 {
				t.Errorf("%+v", j)
			}
			w := b.session("d")
			w.want("select index_type from information_schema.statistics where index_name = 'ft' limit 1", "FULLTEXT")
			if got := strings.TrimSpace(w.text("select count(*) from t where match (title, body) against ('alpha')")); got == "0" {
				t.Error("nothing is found")
			}
			b.checked()
		})
	}
}
