package tpce

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// timeline is what a run did, by equal steps of time: a second at first, twice as long whenever the
// steps become too many.
type timeline struct {
	step  time.Duration
	slots []slot
}

type slot struct {
	transactions int64
	latency      *hdrhistogram.Histogram // of Trade-Results, microseconds
}

const maxSlots = 120

// add notes a transaction that ended at the time since the start.
func (t *timeline) add(at time.Duration, name string, took time.Duration) {
	for int(at/t.step) >= maxSlots {
		t.halve()
	}
	i := int(at / t.step)
	for len(t.slots) <= i {
		t.slots = append(t.slots, slot{})
	}
	s := &t.slots[i]
	s.transactions++
	if name == nameTradeResult {
		if s.latency == nil {
			s.latency = hdrhistogram.New(1, maxLatency.Microseconds(), 2)
		}
		record(s.latency, took)
	}
}

// halve joins the slots by pairs.
func (t *timeline) halve() {
	t.step *= 2
	var joined []slot
	for i, s := range t.slots {
		if i%2 == 0 {
			joined = append(joined, s)
			continue
		}
		into := &joined[len(joined)-1]
		into.transactions += s.transactions
		switch {
		case into.latency == nil:
			into.latency = s.latency
		case s.latency != nil:
			into.latency.Merge(s.latency)
		}
	}
	t.slots = joined
}

// Timeline is a run by equal steps of time. A latency is -1 where no Trade-Result ended.
type Timeline struct {
	StepSeconds  float64   `json:"step_seconds"`
	Transactions []float64 `json:"transactions_per_second"`
	TradeResults []float64 `json:"trade_results_per_second"`
	P50          []float64 `json:"trade_result_p50_ms"`
	P90          []float64 `json:"trade_result_p90_ms"`
	P99          []float64 `json:"trade_result_p99_ms"`
}

func (t *timeline) report() Timeline {
	out := Timeline{StepSeconds: t.step.Seconds()}
	for _, s := range t.slots {
		results, l := int64(0), Latency{P50: -1, P90: -1, P99: -1}
		if s.latency != nil {
			results, l = s.latency.TotalCount(), latencyOf(s.latency)
		}
		out.Transactions = append(out.Transactions, float64(s.transactions)/out.StepSeconds)
		out.TradeResults = append(out.TradeResults, float64(results)/out.StepSeconds)
		out.P50, out.P90, out.P99 = append(out.P50, l.P50), append(out.P90, l.P90), append(out.P99, l.P99)
	}
	return out
}

// gaps turns the -1 of a report into what a plot leaves out.
func gaps(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v
		if v < 0 {
			out[i] = math.NaN()
		}
	}
	return out
}
