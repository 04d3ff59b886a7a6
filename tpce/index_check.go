package tpce

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"moka/tpce/client"
	"moka/tpce/schema"
)

// checkIndexes is C22: what an index says is what the table says. Each family has its own way to ask.
func checkIndexes(ctx context.Context, db *client.Pool) (ConditionReport, error) {
	r := ConditionReport{ID: "C22", Text: "every index agrees with its table"}
	for _, t := range schema.Tables() {
		problems, err := db.IndexProblems(ctx, db.DB, t)
		if errors.Is(err, client.ErrNotAsked) {
			r.Skipped = err.Error()
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", t.Name, err)
		}
		for _, p := range problems {
			r.Violations = append(r.Violations, t.Name+": "+strings.TrimSpace(p))
		}
	}
	return r, nil
}
