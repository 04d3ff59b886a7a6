// Package sbom lists what a Go binary was made of, as a bill of materials in CycloneDX's form: scanners for
// known holes read that. The list is the binary's own, which the Go linker wrote into it, so it can be made
// of a binary that is already somewhere, for another platform too, and cannot name what is not in it.
package sbom

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// Write writes the bill of a binary as JSON. It has no time and no serial number: the same binary has the
// same bill.
func Write(w io.Writer, info *debug.BuildInfo, version string) error {
	bom := cdx.NewBOM()
	bom.SerialNumber = ""
	main := cdx.Component{BOMRef: info.Main.Path, Type: cdx.ComponentTypeApplication, Name: info.Main.Path,
		Version: version, Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}}
	var set []cdx.Property
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "GO") || strings.HasPrefix(s.Key, "vcs") || s.Key == "-tags" {
			set = append(set, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
		}
	}
	main.Properties = &set
	bom.Metadata = &cdx.Metadata{Component: &main}
	std := debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
	list := []cdx.Component{module(std)}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		list = append(list, module(*d))
	}
	slices.SortFunc(list, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	bom.Components = &list
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// module is a component with its package URL, by which scanners know it.
func module(m debug.Module) cdx.Component {
	url := fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version)
	c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
		PackageURL: url, Scope: cdx.ScopeRequired}
	if m.Sum != "" { // of go.sum; it is no hash of a file, so it has no field of its own
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}
