package tpce

import (
	"os"
	"testing"
	"time"

	"moka/tpce/mariadbtest"
)

func TestLoadTmp(t *testing.T) {
	s := mariadbtest.Start(t)
	cfg := Config{Target: s.URL("demo"), Preset: "demo", Connections: 4, Progress: os.Stderr}
	r, err := Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Text())
	c, err := Check(t.Context(), cfg)
	t.Log(c.Text())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Transactions = 4000
	cfg.MarketDelay = 10 * time.Millisecond
	cfg.CurvePeriod = 4 * time.Second
	run, err := Run(t.Context(), cfg)
	t.Log(run.Text())
	if err != nil {
		t.Fatal(err)
	}
	c, err = Check(t.Context(), cfg)
	t.Log(c.Text())
	if err != nil {
		t.Fatal(err)
	}
}
