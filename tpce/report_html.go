package tpce

import (
	"fmt"
	"strings"

	"moka/tpce/plot"
)

// HTML is the report as a page that carries everything it shows.
func (r RunReport) HTML() (string, error) {
	page := plot.Page{Title: "TPC-E-like workload (not a TPC-E result)"}
	text := strings.Split(r.Text(), "\n")
	for _, line := range text[1:] {
		if line == "" {
			break
		}
		page.Lines = append(page.Lines, line)
	}
	page.Lines = append(page.Lines,
		fmt.Sprintf("%.2f trtps (%.0f x the nominal %.2f of %d customers), %d retries, %d errors",
			r.TRTPS, r.TRTPS/r.Nominal, r.Nominal, r.Customers, r.Retries, r.Errors))
	if r.Smoke() != "" {
		page.Lines = append(page.Lines, r.Smoke())
	}
	table := plot.Table{Title: "Transactions",
		Head: []string{"transaction", "count", "mix %", "target %", "p50 ms", "p90 ms", "p99 ms", "max ms",
			"limit p90 ms", "retries", "errors"}}
	for _, t := range r.Transactions {
		table.Rows = append(table.Rows, []string{
			t.Name, grouped(t.Measured), fmt.Sprintf("%.2f", t.MixPercent),
			fmt.Sprintf("%.2f", t.TargetPercent), fmt.Sprintf("%.2f", t.Latency.P50),
			fmt.Sprintf("%.2f", t.Latency.P90), fmt.Sprintf("%.2f", t.Latency.P99),
			fmt.Sprintf("%.2f", t.Latency.Max), fmt.Sprintf("%.0f", t.LimitMS),
			grouped(sum(t.Retries)), grouped(countErrors(t.Errors)),
		})
	}
	page.Tables = append(page.Tables, table)
	page.Charts = r.charts()
	var notes strings.Builder
	r.notes(&notes)
	page.Notes = strings.Split(strings.TrimSpace(notes.String()), "\n")
	return page.HTML()
}

// charts are the rates and the latencies over time, with the ends of ramp-up and measurement marked.
func (r RunReport) charts() []plot.Chart {
	marks := map[float64]string{r.RampUpSeconds + r.Seconds: "customers stop"}
	if r.RampUpSeconds > 0 {
		marks[r.RampUpSeconds] = "steady state"
	}
	l := r.Timeline
	return []plot.Chart{
		{
			Title: "Completed transactions", Unit: "per second", Step: l.StepSeconds, Marks: marks,
			Series: []plot.Series{{Name: "all", Values: l.Transactions},
				{Name: nameTradeResult, Values: l.TradeResults}},
		},
		{
			Title: "Trade-Result, response time", Unit: "ms", Step: l.StepSeconds, Marks: marks,
			Series: []plot.Series{{Name: "p50", Values: gaps(l.P50)}, {Name: "p90", Values: gaps(l.P90)},
				{Name: "p99", Values: gaps(l.P99)}},
		},
	}
}

// Smoke says of a run that is too small or too short to be measured by, that it is. The specification wants
// at least 5,000 customers and two hours.
func (r RunReport) Smoke() string {
	if r.Customers >= 1000 && r.Seconds >= 300 {
		return ""
	}
	return fmt.Sprintf("This is a smoke run, no measurement: %d customers for %.0f s.", r.Customers,
		r.Seconds)
}
