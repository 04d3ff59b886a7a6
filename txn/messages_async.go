package txn

import "moka/kv"

const cmdCheckSecondaries kv.CommandID = 48

// secondariesRequest asks a shard for the locks of an asynchronous commit in it.
type secondariesRequest struct {
	startTS kv.Timestamp
	columns []kv.Column
	// final keeps out for ever what is not there yet: the owner had its time.
	final bool
}

func (m *secondariesRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.startTS)
	e.columns(m.columns)
	e.bool(m.final)
	return e.b
}

func (m *secondariesRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = secondariesRequest{startTS: d.timestamp(), columns: d.columns(), final: d.bool()}
	return d.end()
}

// secondariesFound is what became of the locks that were asked for, as far as one answer goes.
type secondariesFound uint8

const (
	secondariesLocked     secondariesFound = 1 // all of them are there and durable; commitTS is the least that they allow
	secondariesCommitted  secondariesFound = 2 // one is committed, at commitTS, hence the transaction is
	secondariesRolledBack secondariesFound = 3 // one can never be locked, hence the transaction cannot commit
	secondariesPlain      secondariesFound = 4 // one is locked plainly: the transaction has two phases, its primary decides
	secondariesMissing    secondariesFound = 5 // one is not there (yet)
	secondariesForgotten  secondariesFound = 6 // one is not there, and what became of it is not known any more
)

type secondariesResponse struct {
	found    secondariesFound
	commitTS kv.Timestamp
}

func (m *secondariesResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.byte(byte(m.found))
	e.timestamp(m.commitTS)
	return e.b
}

func (m *secondariesResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = secondariesResponse{found: secondariesFound(d.byte()), commitTS: d.timestamp()}
	if m.found < secondariesLocked || m.found > secondariesForgotten {
		d.fail("unknown state of secondaries")
	}
	return d.end()
}
