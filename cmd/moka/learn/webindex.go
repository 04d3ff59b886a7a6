package learn

import (
	"context"
	"fmt"
	"time"
)

// WebIndex is the tutorial of Percolator's §1: an index of the web as it is crawled, page by page.
type WebIndex struct {
	Tour
	// Pages is how many more pages are there when one is crawled again. Default 2,000.
	Pages int
}

// The tables. Only document is written by the crawler; the others are kept by observers.
var webTables = []string{
	`CREATE DATABASE web`,
	`USE web`,
	`CREATE TABLE document (url VARCHAR(100) PRIMARY KEY, contents TEXT NOT NULL)`,
	`CREATE TABLE link (source VARCHAR(100), target VARCHAR(100), anchor VARCHAR(100) NOT NULL,
  PRIMARY KEY (source, target))`,
	`CREATE TABLE page (url VARCHAR(100) PRIMARY KEY, hash CHAR(32) NOT NULL, KEY (hash))`,
	`CREATE TABLE cluster (hash CHAR(32) PRIMARY KEY, canonical VARCHAR(100) NOT NULL, pages INT NOT NULL)`,
	`CREATE TABLE inverted (target VARCHAR(100), source VARCHAR(100), anchor VARCHAR(100) NOT NULL,
  PRIMARY KEY (target, source))`,
}

// The observers, as the paper's document processor, clustering and link inversion. Each writes what has
// changed and nothing else: an upsert that changes nothing notifies nobody.
var webObservers = []string{
	`CREATE OBSERVER process AFTER INSERT OR UPDATE OR DELETE ON document FOR EACH ROW
BEGIN
  DECLARE at, upto, txt, fin INT;
  IF DELETING THEN
    DELETE FROM link WHERE source = OLD.url;
    DELETE FROM page WHERE url = OLD.url;
  ELSE
    INSERT INTO page VALUES (NEW.url, MD5(NEW.contents)) ON DUPLICATE KEY UPDATE hash = MD5(NEW.contents);
    DELETE FROM link WHERE source = NEW.url AND LOCATE(CONCAT('<a href="', target, '"'), NEW.contents) = 0;
    SET at = LOCATE('<a href="', NEW.contents);
    WHILE at > 0 DO
      SET upto = LOCATE('"', NEW.contents, at + 9), txt = upto + 2;
      SET fin = LOCATE('</a>', NEW.contents, txt);
      INSERT INTO link VALUES (NEW.url, SUBSTRING(NEW.contents, at + 9, upto - at - 9),
          SUBSTRING(NEW.contents, txt, fin - txt))
        ON DUPLICATE KEY UPDATE anchor = SUBSTRING(NEW.contents, txt, fin - txt);
      SET at = LOCATE('<a href="', NEW.contents, fin);
    END WHILE;
  END IF;
END`,
	`CREATE OBSERVER duplicates AFTER INSERT OR UPDATE OR DELETE ON page FOR EACH ROW
BEGIN
  IF NOT INSERTING THEN
    DELETE FROM cluster WHERE hash = OLD.hash;
    INSERT INTO cluster SELECT hash, MIN(url), COUNT(*) FROM page WHERE hash = OLD.hash GROUP BY hash;
  END IF;
  IF NOT DELETING THEN
    DELETE FROM cluster WHERE hash = NEW.hash;
    INSERT INTO cluster SELECT hash, MIN(url), COUNT(*) FROM page WHERE hash = NEW.hash GROUP BY hash;
  END IF;
END`,
	`CREATE OBSERVER invert AFTER INSERT OR UPDATE OR DELETE ON link FOR EACH ROW
IF DELETING THEN
  DELETE FROM inverted WHERE target = OLD.target AND source = OLD.source;
ELSE
  REPLACE INTO inverted VALUES (NEW.target, NEW.source, NEW.anchor);
END IF`,
}

const webIntroduction = `Percolator §1: an index of the web. The crawler writes documents; everything else
follows from them. A batch system would build the other tables anew from all documents, however
little has changed. Here observers keep them:

  document ──process──▶ link ──invert──▶ inverted         who links to a page, and with which words
           └─process──▶ page ──duplicates──▶ cluster      pages with the same contents`

// incoming are the links to a page from the canonical page of each cluster of duplicates.
const incoming = `SELECT i.source, i.anchor FROM inverted i JOIN page p ON p.url = i.source
  JOIN cluster c ON c.hash = p.hash WHERE i.target = 'c.org' AND c.canonical = i.source ORDER BY 1`

// Run shows it all.
func (w *WebIndex) Run(ctx context.Context) error {
	if w.Pages == 0 {
		w.Pages = 2000
	}
	w.say("%s", webIntroduction)
	for _, group := range [][]string{webTables, webObservers} {
		w.pause()
		for _, statement := range group {
			if err := w.do(ctx, statement); err != nil {
				return err
			}
		}
		fmt.Fprintln(w.Out)
	}
	if err := w.crawl(ctx); err != nil {
		return err
	}
	if err := w.recrawl(ctx); err != nil {
		return err
	}
	return w.rebuild(ctx)
}

// wait waits until all observers have done what there is to do.
func (w *WebIndex) wait(ctx context.Context) error {
	return w.do(ctx, "WAIT FOR OBSERVERS TIMEOUT 120")
}

// check asks, and fails if the rows are others than those that the tutorial tells.
func (w *WebIndex) check(ctx context.Context, query, want string) error {
	rows, err := w.ask(ctx, query)
	if err != nil {
		return err
	}
	return expect(rows, want)
}

func (w *WebIndex) crawl(ctx context.Context) error {
	w.pause()
	w.say("The crawler brings four pages. b.org and mirror.org have the same contents.")
	if err := w.do(ctx, `INSERT INTO document VALUES
  ('a.org', 'News: <a href="c.org">the best coffee</a>, <a href="b.org">old stuff</a>'),
  ('b.org', 'See <a href="c.org">here</a>'),
  ('mirror.org', 'See <a href="c.org">here</a>'),
  ('c.org', 'Coffee!')`); err != nil {
		return err
	}
	if err := w.wait(ctx); err != nil {
		return err
	}
	fmt.Fprintln(w.Out)
	w.say(`Four runs of process have set off four of duplicates, and four of invert for the four links:`)
	if err := w.check(ctx, "SELECT observer_name, COUNT(*) FROM moka.observer_runs WHERE result = 'done'\n"+
		"  GROUP BY 1 ORDER BY 1", "duplicates 4; invert 4; process 4"); err != nil {
		return err
	}
	if err := w.check(ctx, "SELECT canonical, pages FROM cluster ORDER BY 1",
		"a.org 1; b.org 2; c.org 1"); err != nil {
		return err
	}
	w.say("Who links to c.org? Of duplicates only the canonical page counts.")
	return w.check(ctx, incoming, "a.org the best coffee; b.org here")
}

func (w *WebIndex) recrawl(ctx context.Context) error {
	w.pause()
	w.say(`b.org has changed, and is crawled again: three rows of the derived tables change, and no other
is looked at. It is no duplicate any more, so that mirror.org is canonical now, and its link
counts.`)
	if err := w.do(ctx, "UPDATE document SET contents = 'See <a href=\"c.org\">the roaster</a>'\n"+
		"  WHERE url = 'b.org'"); err != nil {
		return err
	}
	if err := w.wait(ctx); err != nil {
		return err
	}
	fmt.Fprintln(w.Out)
	if err := w.check(ctx, "SELECT canonical, pages FROM cluster ORDER BY 1",
		"a.org 1; b.org 1; c.org 1; mirror.org 1"); err != nil {
		return err
	}
	return w.check(ctx, incoming, "a.org the best coffee; b.org the roaster; mirror.org here")
}

// rebuildBody is the batch: all derived tables from all documents.
const rebuildBody = `CREATE PROCEDURE rebuild()
BEGIN
  DECLARE at, upto, txt, fin INT;
  DECLARE u VARCHAR(100);
  DECLARE t TEXT;
  DECLARE done BOOL DEFAULT FALSE;
  DECLARE docs CURSOR FOR SELECT url, contents FROM document;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
  DELETE FROM batch_link; DELETE FROM batch_cluster;
  OPEN docs;
  FETCH docs INTO u, t;
  WHILE NOT done DO
    SET at = LOCATE('<a href="', t);
    WHILE at > 0 DO
      SET upto = LOCATE('"', t, at + 9), txt = upto + 2;
      SET fin = LOCATE('</a>', t, txt);
      INSERT INTO batch_link VALUES (SUBSTRING(t, at + 9, upto - at - 9), u, SUBSTRING(t, txt, fin - txt));
      SET at = LOCATE('<a href="', t, fin);
    END WHILE;
    FETCH docs INTO u, t;
  END WHILE;
  CLOSE docs;
  INSERT INTO batch_cluster SELECT MD5(contents) h, MIN(url), COUNT(*) FROM document GROUP BY h;
END`

// rebuild compares a page that is crawled again with building everything anew (figure 7).
func (w *WebIndex) rebuild(ctx context.Context) error {
	w.pause()
	w.say(`What is that worth? %d more pages, and then one of them is crawled again (the point of figure
7).`,
		w.Pages)
	for at := 0; at < w.Pages; at += 500 {
		statement := "INSERT INTO document WITH RECURSIVE n AS (SELECT %d i UNION ALL SELECT i + 1 FROM n " +
			"WHERE i + 1 < %d)\n  SELECT CONCAT('p', i, '.org'),\n" +
			"    CONCAT('<a href=\"p', i DIV 10, '.org\">up</a> " +
			"<a href=\"c.org\">coffee ', i, '</a>') FROM n"
		if err := w.do(ctx, fmt.Sprintf(statement, at, min(at+500, w.Pages))); err != nil {
			return err
		}
	}
	if err := w.wait(ctx); err != nil {
		return err
	}
	for _, statement := range []string{
		"CREATE TABLE batch_link (target VARCHAR(100), source VARCHAR(100), anchor VARCHAR(100),\n" +
			"  PRIMARY KEY (target, source))",
		"CREATE TABLE batch_cluster (hash CHAR(32) PRIMARY KEY, canonical VARCHAR(100), pages INT)",
		rebuildBody,
	} {
		if err := w.do(ctx, statement); err != nil {
			return err
		}
	}
	fmt.Fprintln(w.Out)
	observed, err := w.timed(ctx, "UPDATE document SET contents = CONCAT(contents, '!') WHERE url = 'p7.org'",
		"WAIT FOR OBSERVERS TIMEOUT 120")
	if err != nil {
		return err
	}
	batch, err := w.timed(ctx, "CALL rebuild()")
	if err != nil {
		return err
	}
	w.say(`Crawled again and in the index: %v by observers, %v by the batch, %.0f times as long; the batch
grows with the web, the observers' work with what has changed. Both say the same:`,
		observed.Round(100*time.Microsecond), batch.Round(time.Millisecond), float64(batch)/float64(observed))
	if err := w.check(ctx, "SELECT COUNT(*) FROM inverted i\n"+
		"  LEFT JOIN batch_link b USING (target, source, anchor) WHERE b.source IS NULL", "0"); err != nil {
		return err
	}
	same := `SELECT (SELECT COUNT(*) FROM inverted) = (SELECT COUNT(*) FROM batch_link) links,
  (SELECT SUM(pages) FROM cluster) = (SELECT SUM(pages) FROM batch_cluster) pages,
  (SELECT COUNT(*) FROM cluster) = (SELECT COUNT(*) FROM batch_cluster) clusters`
	if err := w.check(ctx, same, "1 1 1"); err != nil {
		return err
	}
	w.say(`The statements above are ordinary SQL: docs/observers.md has the whole language of observers.`)
	return nil
}

// timed runs statements and says how long they took.
func (w *WebIndex) timed(ctx context.Context, statements ...string) (time.Duration, error) {
	began := time.Now()
	for _, s := range statements {
		if err := w.do(ctx, s); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
