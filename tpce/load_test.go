package tpce

import (
	"os"
	"testing"

	"moka/tpce/mariadbtest"
)

func TestLoadTmp(t *testing.T) {
	s := mariadbtest.Start(t)
	r, err := Load(t.Context(), Config{Target: s.URL("demo"), Preset: "demo", Connections: 4, Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Text())
}
