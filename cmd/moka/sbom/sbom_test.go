package sbom

import (
	"bytes"
	"runtime/debug"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func TestBill(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.2", Main: debug.Module{Path: "moka"},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "-ldflags", Value: "-X a=b"}},
		Deps: []*debug.Module{{Path: "z.example/z", Version: "v1.0.0", Sum: "h1:abc="},
			{Path: "a.example/a", Version: "v2.0.0", Replace: &debug.Module{
				Path: "b.example/b", Version: "v3.0.0"}}}}
	write := func() string {
		var b bytes.Buffer
		if err := Write(&b, info, "v0.1.0"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := write()
	if text != write() {
		t.Error("two bills of one binary differ")
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(strings.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, c := range *bom.Components {
		urls = append(urls, c.PackageURL)
	}
	want := "pkg:golang/b.example/b@v3.0.0 pkg:golang/std@1.26.2 pkg:golang/z.example/z@v1.0.0"
	if got := strings.Join(urls, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if bom.Metadata.Component.Version != "v0.1.0" || strings.Contains(text, "ldflags") {
		t.Error(text)
	}
}
