package sqlfront

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv/boottime"
	"moka/sqlfront/catalog"
	"moka/sqlfront/conn"
	"moka/sqlfront/engine"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// What is not a table's lives in the catalog as named values.
const (
	usersBlob      = "users"     // accounts and privileges, in go-mysql-server's own serialization
	variablePrefix = "variable/" // + name: a persisted system variable, JSON
	readOnlyBlob   = "read_only" // an engine.ReadOnly in digits
)

// blobAttempts bounds how often a change of a blob is run again after a conflict.
const blobAttempts = 20

// blobStore reads and writes one named value, or the values of a prefix.
type blobStore struct {
	catalog *catalog.Catalog
	client  *txn.Client
	name    string
}

func (b *blobStore) snapshot(ctx context.Context) (*catalog.Snapshot, error) {
	t := b.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	return b.catalog.Snapshot(ctx, t)
}

func (b *blobStore) change(ctx context.Context, f func(*txn.Txn) error) error {
	var err error
	for range blobAttempts {
		t := b.client.Begin(txn.TxnOptions{})
		if err = f(t); err == nil {
			_, err = t.Commit(ctx)
		}
		t.Rollback()
		if !errors.Is(err, txn.ErrConflict) && !errors.Is(err, txn.ErrMustExist) {
			return err
		}
	}
	return err
}

// userStore keeps the accounts. Each server has all of them in memory and saves all of them at each change, so it must not
// save over a change of another server that it has not seen: applied is what its memory stands on.
type userStore struct {
	blobStore
	following sync.Mutex // held by who loads what is stored, before mu: two would load in any order

	mu      sync.Mutex
	applied []byte
	failed  int // changes that are in memory and were not saved; each failure counts one up
	undone  int // how many of them have been taken out again
	loading bool
}

var _ conn.UserStore = (*userStore)(nil)

// LoadUsers implements conn.UserStore.
func (u *userStore) LoadUsers(ctx context.Context) ([]byte, error) {
	data, err := u.stored(ctx)
	if err == nil {
		u.mu.Lock()
		u.applied = data
		u.mu.Unlock()
	}
	return data, err
}

func (u *userStore) stored(ctx context.Context) ([]byte, error) {
	snap, err := u.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	data, _ := snap.Blob(u.name)
	return data, nil
}

// SaveUsers implements conn.UserStore.
func (u *userStore) SaveUsers(ctx context.Context, data []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	err := u.change(ctx, func(t *txn.Txn) error {
		snap, err := u.catalog.Snapshot(ctx, t)
		if err != nil {
			return err
		}
		if now, _ := snap.Blob(u.name); u.loading || !bytes.Equal(now, u.applied) {
			return sqlerr.New(sqlerr.Deadlock,
				"Accounts were changed through another server at the same time; try restarting transaction")
		}
		return u.catalog.PutBlob(ctx, t, u.name, data)
	})
	if err != nil {
		u.failed++ // the change is in memory already: follow takes it out again
		return sqlerr.From(err)
	}
	u.applied = data
	return nil
}

// stand reports whether the accounts in memory are those of the snapshot.
func (u *userStore) stand(snap *catalog.Snapshot) bool {
	data, _ := snap.Blob(u.name)
	u.mu.Lock()
	defer u.mu.Unlock()
	return !u.loading && u.failed == u.undone && (len(data) == 0 || bytes.Equal(data, u.applied))
}

// follow loads what is stored if memory does not stand on it.
func (u *userStore) follow(ctx context.Context, load func([]byte) error) error {
	u.following.Lock()
	defer u.following.Unlock()
	u.mu.Lock()
	// Under the lock: a value read before a change of this server and loaded after it would take the change back.
	data, err := u.stored(ctx)
	failed := u.failed
	if err != nil || len(data) == 0 || failed == u.undone && bytes.Equal(data, u.applied) {
		u.mu.Unlock()
		return err
	}
	u.loading = true
	u.mu.Unlock()
	// Not under the lock: load takes the lock of the accounts in memory, which SaveUsers is called under.
	err = load(data)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.loading = false
	if err == nil {
		u.applied, u.undone = data, failed
	}
	return err
}

// variableStore is the engine's PersistStore: SET PERSIST.
type variableStore struct{ blobStore }

// variable is a persisted value. JSON has one kind of number, so its Go type is kept beside it.
type variable struct {
	Kind  string          `json:"kind"`
	Value json.RawMessage `json:"value"`
}

// Persist stores a variable's value.
func (v *variableStore) Persist(ctx context.Context, name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("sqlfront: variable %s: %w", name, err)
	}
	data, err := json.Marshal(variable{Kind: fmt.Sprintf("%T", value), Value: raw})
	if err != nil {
		return err
	}
	return v.change(ctx, func(t *txn.Txn) error { return v.catalog.PutBlob(ctx, t, v.key(name), data) })
}

// Forget removes a stored value; one that was never stored is an error, as in MySQL.
func (v *variableStore) Forget(ctx context.Context, name string) error {
	return v.change(ctx, func(t *txn.Txn) error { return v.catalog.DeleteBlob(ctx, t, v.key(name)) })
}

// ForgetAll removes all stored values.
func (v *variableStore) ForgetAll(ctx context.Context) error {
	return v.change(ctx, func(t *txn.Txn) error {
		snap, err := v.catalog.Snapshot(ctx, t)
		if err != nil {
			return err
		}
		for _, name := range snap.Blobs(v.name) {
			if err := v.catalog.DeleteBlob(ctx, t, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// Persisted returns a stored value.
func (v *variableStore) Persisted(ctx context.Context, name string) (any, bool, error) {
	snap, err := v.snapshot(ctx)
	if err != nil {
		return nil, false, err
	}
	data, ok := snap.Blob(v.key(name))
	if !ok {
		return nil, false, nil
	}
	value, err := decodeVariable(data)
	return value, err == nil, err
}

// apply gives the process's variables the stored values.
func (v *variableStore) apply(ctx context.Context) error {
	values, err := v.all(ctx)
	if err != nil {
		return err
	}
	return sql.SystemVariables.AssignValues(values)
}

// all are the stored values of the variables that this release knows.
func (v *variableStore) all(ctx context.Context) (map[string]any, error) {
	snap, err := v.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, key := range snap.Blobs(v.name) {
		data, _ := snap.Blob(key)
		value, err := decodeVariable(data)
		if err != nil {
			return nil, fmt.Errorf("sqlfront: the persisted variable %s cannot be read: %w", key, err)
		}
		name := strings.TrimPrefix(key, v.name)
		if _, _, known := sql.SystemVariables.GetGlobal(name); known { // an older binary may not know it
			values[name] = value
		}
	}
	return values, nil
}

func (v *variableStore) key(name string) string { return v.name + strings.ToLower(name) }

func decodeVariable(data []byte) (any, error) {
	var x variable
	if err := json.Unmarshal(data, &x); err != nil {
		return nil, err
	}
	decode := func(into any) error { return json.Unmarshal(x.Value, into) }
	switch x.Kind {
	case "string":
		var s string
		err := decode(&s)
		return s, err
	case "float64", "float32":
		var f float64
		err := decode(&f)
		return f, err
	case "int8", "bool":
		if string(x.Value) == "true" || string(x.Value) == "false" {
			return string(x.Value) == "true", nil
		}
		var i int8
		err := decode(&i)
		return i, err
	case "uint64", "uint32", "uint16", "uint8", "uint":
		var u uint64
		err := decode(&u)
		return u, err
	case "int64", "int32", "int16", "int":
		var i int64
		err := decode(&i)
		return i, err
	}
	return nil, fmt.Errorf("a value of type %s", x.Kind)
}

// follow looks around for statements that do not look themselves: those of open transactions.
func (s *Server) follow(ctx context.Context) {
	tick := time.NewTicker(s.opts.FollowUsers)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_ = s.lookAround(ctx)
	}
}

// lookAround brings what was changed through another server into this one's memory: accounts, and whether the database is read-only.
func (s *Server) lookAround(ctx context.Context) error {
	if s.users == nil {
		return nil // being made
	}
	began := boottime.Now()
	err := s.users.follow(ctx,
		func(data []byte) error { return s.engine.Directory().Replace(sql.NewContext(ctx), data) })
	if err == nil {
		err = s.followReadOnly(ctx)
	}
	if err == nil {
		_, err = s.engine.Look(ctx)
	}
	if err == nil {
		s.lease.renew(began)
	} else if ctx.Err() == nil {
		s.opts.Logger.Warn("looking for changed accounts failed; trying again", "err", err)
	}
	return err
}

// saw is lookAround for a statement that sees a snapshot of the catalog. Where nothing of this is another in
// it than in memory it reads nothing: others may change the schema without a pause.
func (s *Server) saw(ctx context.Context, snap *catalog.Snapshot) error {
	if s.users == nil {
		return nil // being made
	}
	if state, err := storedReadOnly(snap); err == nil && state == s.engine.ReadOnly() && s.users.stand(snap) {
		return nil
	}
	return s.lookAround(ctx)
}

// keepReadOnly stores that the database is read-only, or is not any more.
func (s *Server) keepReadOnly(ctx context.Context, state engine.ReadOnly) error {
	s.readOnly.Lock() // what was stored before is not put in force behind it
	defer s.readOnly.Unlock()
	b := blobStore{s.catalog, s.opts.Client, readOnlyBlob}
	err := b.change(ctx, func(t *txn.Txn) error {
		return s.catalog.PutBlob(ctx, t, readOnlyBlob, strconv.AppendInt(nil, int64(state), 10))
	})
	if err != nil {
		return sqlerr.From(err)
	}
	return s.engine.SetReadOnly(state)
}

// followReadOnly puts the stored state in force.
func (s *Server) followReadOnly(ctx context.Context) error {
	s.readOnly.Lock()
	defer s.readOnly.Unlock()
	b := blobStore{s.catalog, s.opts.Client, readOnlyBlob}
	snap, err := b.snapshot(ctx)
	if err != nil {
		return err
	}
	state, err := storedReadOnly(snap)
	if err != nil || s.engine.ReadOnly() == state {
		return err
	}
	return s.engine.SetReadOnly(state)
}

func storedReadOnly(snap *catalog.Snapshot) (engine.ReadOnly, error) {
	data, ok := snap.Blob(readOnlyBlob)
	if !ok {
		return 0, nil
	}
	state, err := strconv.Atoi(string(data))
	if err != nil {
		return 0, fmt.Errorf("sqlfront: the stored state of read_only cannot be read: %w", err)
	}
	return engine.ReadOnly(state), nil
}
