package gen

import "math"

// Rand is a splitmix64 stream. Its seed is a key, so that an attribute of the millionth row costs
// as much as the first's.
type Rand struct{ state uint64 }

// topic keys the streams; two attributes drawn from one topic must come from one stream.
type topic uint64

const (
	topicCustomer topic = iota + 1
	topicPerson
	topicAddress
	topicTax
	topicAccount
	topicBasket
	topicPermission
	topicWatch
	topicCompany
	topicSecurity
	topicDaily
	topicFinancial
	topicNews
	topicHistory
	topicBroker
	topicWorker
)

func mix64(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func newRand(seed uint64, t topic, id int64) *Rand {
	return &Rand{state: mix64(mix64(seed+0x9e3779b97f4a7c15) ^ mix64(uint64(t)<<56^uint64(id)))}
}

// NewRand is a stream for a caller's own use, worker by worker.
func NewRand(seed uint64, worker int64) *Rand { return newRand(seed, topicWorker, worker) }

func (r *Rand) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return mix64(r.state)
}

// Float is uniform in [0, 1).
func (r *Rand) Float() float64 { return float64(r.next()>>11) / (1 << 53) }

// Int is uniform in [lo, hi]. The modulo's bias is below 2^-40 for every range used here.
func (r *Rand) Int(lo, hi int64) int64 { return lo + int64(r.next()%uint64(hi-lo+1)) }

// Percent is true in p of 100 draws.
func (r *Rand) Percent(p float64) bool { return r.Float()*100 < p }

// skewed is in [0, n), low values likelier: what a weighted list gives, without the weights.
func (r *Rand) skewed(n int64) int64 { return min(r.Int(0, n-1), r.Int(0, n-1)) }

// Exponential has the given mean and is cut at limit.
func (r *Rand) Exponential(mean, limit float64) float64 {
	return min(-mean*math.Log(1-r.Float()), limit)
}

// distinct draws k different values of [0, n).
func (r *Rand) distinct(k, n int) []int {
	out := make([]int, 0, k)
	for len(out) < k {
		v := int(r.Int(0, int64(n-1)))
		if !contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func contains(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}
