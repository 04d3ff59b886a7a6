package gen

import (
	"fmt"
	"math"
	"strings"
)

// Customers are numbered n = 1..Customers; C_ID is the shifted number.

// CustomerID is C_ID of customer n.
func CustomerID(n int) int64 { return identShift + int64(n) }

// CustomerNumber is the inverse of CustomerID.
func CustomerNumber(id int64) int { return int(id - identShift) }

// loadUnit of customer n, from 0.
func (u *Universe) loadUnit(n int) int { return (n - 1) / u.unitSize }

// ChooseCustomer draws a customer with the workload's skew: uniform over load units; inside one, tiers of
// 20/60/20 % of the customers get 10/60/30 % of the draws, and the weight rises linearly inside a tier.
func (u *Universe) ChooseCustomer(r *Rand) int {
	return u.chooseIn(r, int(r.Int(0, int64(u.units-1))))
}

func (u *Universe) chooseIn(r *Rand, unit int) int {
	w := 2000 * (1 - r.Float()) // (0, 2000]
	var rank float64            // 0..999, the inverse of the cumulated weight
	switch {
	case w <= 200:
		rank = math.Ceil(math.Sqrt(22_500+500*w) - 151)
	case w <= 1400:
		rank = math.Ceil(math.Sqrt(290_000+1000*w) - 501)
	default:
		rank = math.Ceil(149 + math.Sqrt(500*w-277_500))
	}
	x := min(int(rank)*u.unitSize/1000, u.unitSize-1)
	return unit*u.unitSize + (permMul*x+33*(unit+1))%u.unitSize + 1
}

// rank inverts the permutation of chooseIn: the position of customer n among the weights of its load unit.
func (u *Universe) rank(n int) int {
	unit := u.loadUnit(n)
	x := (n - 1 - unit*u.unitSize - 33*(unit+1)) % u.unitSize
	if x < 0 {
		x += u.unitSize
	}
	return x * u.permInv % u.unitSize
}

// tierRank is the customer's tier, 1 to 3, and its position inside the tier.
func (u *Universe) tierRank(n int) (tier, position int) {
	x, second, third := u.rank(n), u.unitSize/5, u.unitSize*4/5
	switch {
	case x < second:
		return 1, x
	case x < third:
		return 2, x - second
	default:
		return 3, x - third
	}
}

// Tier of customer n.
func (u *Universe) Tier(n int) int {
	tier, _ := u.tierRank(n)
	return tier
}

// Accounts is the number of accounts of customer n: 1 to 10, exactly 5,000 in a full load unit.
func (u *Universe) Accounts(n int) int {
	switch tier, i := u.tierRank(n); tier {
	case 1:
		return i%4 + 1
	case 2:
		return (i+1)%7 + 2
	default:
		return (i+2)%6 + 5
	}
}

// AccountID is CA_ID of the customer's k-th account, k from 0; there is room for 10.
func AccountID(n, k int) int64 { return (CustomerID(n)-1)*10 + 1 + int64(k) }

// AccountOwner is the customer number of an account id.
func AccountOwner(accountID int64) int { return CustomerNumber((accountID-1)/10 + 1) }

// Person is whoever may trade: a customer or an executor outside the database.
type Person struct {
	First, Last, TaxID string
	middle             string
	male               bool
}

// Name as T_EXEC_NAME carries it.
func (p Person) Name() string { return p.First + " " + p.Last }

func (u *Universe) person(id int64) Person {
	r := newRand(u.Seed, topicPerson, id)
	p := Person{male: r.Percent(49), Last: lastName(r.skewed(lastNames)), TaxID: taxID(id)}
	if p.male {
		p.First = maleName(r.skewed(maleNames))
	} else {
		p.First = femaleName(r.skewed(femaleNames))
	}
	p.middle = string(rune('A' + r.Int(0, 25)))
	return p
}

// Customer is the person behind customer n.
func (u *Universe) Customer(n int) Person { return u.person(CustomerID(n)) }

// taxID is nnnaannnnaannn: an affine map over all such texts, so that different people have different ones.
func taxID(id int64) string {
	const space = 10_000_000_000 * 26 * 26 * 26 * 26
	// A prime that divides none of the factors of space; ids stay below 2^33, so the product fits.
	v := (uint64(id)*2_147_483_647 + 987_654_321) % space
	b := make([]byte, 14)
	for i := len(b) - 1; i >= 0; i-- {
		if i == 3 || i == 4 || i == 9 || i == 10 {
			b[i] = 'A' + byte(v%26)
			v /= 26
		} else {
			b[i] = '0' + byte(v%10)
			v /= 10
		}
	}
	return string(b)
}

// zipOf is the index of the customer's postal code.
func (u *Universe) zipOf(n int) int {
	return int(newRand(u.Seed, topicTax, int64(n)).skewed(zipCodes))
}

// taxesOf are the customer's two tax rows: its country's and its division's.
func (u *Universe) taxesOf(n int) (country, division tax) {
	z := u.zips[u.zipOf(n)]
	r := newRand(u.Seed, topicTax, -int64(n))
	country = u.taxes.cn[r.Int(0, int64(len(u.taxes.cn)-1))]
	if z.us {
		country = u.taxes.us[r.Int(0, int64(len(u.taxes.us)-1))]
	}
	list := u.taxes.divisions[z.divisionIndex]
	return country, list[r.Int(0, int64(len(list)-1))]
}

// Account is what TRADE and the driver need to know of an account.
type Account struct {
	ID        int64
	Customer  int
	BrokerID  int64
	TaxStatus int // 0 none, 1 withheld, 2 taxed but not withheld
	Balance   Cents
	name      string
}

// Account describes the k-th account of customer n.
func (u *Universe) Account(n, k int) Account {
	a := Account{ID: AccountID(n, k), Customer: n}
	r := newRand(u.Seed, topicAccount, a.ID)
	a.BrokerID = u.brokerID(u.loadUnit(n)*u.brokersPer + int(r.Int(1, int64(u.brokersPer))))
	switch p := r.Int(1, 100); {
	case p <= 20:
		a.TaxStatus = 0
	case p <= 70:
		a.TaxStatus = 1
	default:
		a.TaxStatus = 2
	}
	a.Balance = Cents(r.Int(0, 999_999_999))
	if r.Percent(20) {
		a.Balance = -a.Balance
	}
	kinds := taxableNames
	if a.TaxStatus == 0 {
		kinds = nonTaxableNames
	}
	a.name = u.Customer(n).Name() + " " + pick(kinds, r.Int(0, int64(len(kinds)-1)))
	return a
}

// basketSizes are the smallest and the largest number of symbols an account trades, by tier and by the
// customer's number of accounts.
var basketSizes = map[int][11][2]int64{
	1: {1: {6, 14}, 2: {4, 16}, 3: {2, 18}, 4: {2, 18}},
	2: {2: {7, 13}, 3: {5, 15}, 4: {4, 16}, 5: {3, 17}, 6: {2, 18}, 7: {2, 18}, 8: {2, 18}},
	3: {5: {4, 16}, 6: {4, 16}, 7: {3, 17}, 8: {3, 17}, 9: {2, 18}, 10: {2, 18}},
}

// Basket lists the securities (by index) that the account trades.
func (u *Universe) Basket(n, k int) []int {
	size := basketSizes[u.Tier(n)][u.Accounts(n)]
	r := newRand(u.Seed, topicBasket, AccountID(n, k))
	return r.distinct(int(r.Int(size[0], size[1])), len(u.securities))
}

// executors are the people other than the owner who may trade on the account: none for 60 % of the accounts.
func (u *Universe) executors(n, k int) []Person {
	r := newRand(u.Seed, topicPermission, AccountID(n, k))
	extra := 0
	switch p := r.Int(1, 100); {
	case p > 98:
		extra = 2
	case p > 60:
		extra = 1
	}
	// The space of outside people ends below the first customer's id.
	var out []Person
	for _, id := range r.distinct(extra, 4024<<20) {
		out = append(out, u.person(int64(id)+1))
	}
	return out
}

// Executor draws who places an order on the account: the owner, or (in 10 % of all orders)
// another person allowed to.
func (u *Universe) Executor(r *Rand, n, k int) Person {
	others := u.executors(n, k)
	if len(others) == 0 || r.Percent(75) {
		return u.Customer(n)
	}
	return others[len(others)-1]
}

func (u *Universe) brokers() int { return u.units * u.brokersPer }

func (u *Universe) brokerID(n int) int64 { return identShift + int64(n) }

func (u *Universe) brokerName(n int) string {
	p := u.person(-u.brokerID(n)) // apart from every customer and executor
	return fmt.Sprintf("%s %s. %s", p.First, p.middle, p.Last)
}

func (u *Universe) watchListID(n int) int64 {
	unit := u.loadUnit(n)
	return identShift + int64(unit*u.unitSize+((n-1-unit*u.unitSize)*631+97)%u.unitSize+1)
}

func (u *Universe) watchItems(n int) []int {
	r := newRand(u.Seed, topicWatch, int64(n))
	return r.distinct(int(r.Int(50, 150)), len(u.securities))
}

func emails(p Person, r *Rand) (string, string) {
	box := strings.ToLower(p.First[:1] + p.Last)
	d := r.distinct(2, len(domains))
	return box + "@" + domains[d[0]], box + "@" + domains[d[1]]
}
