package triggers

import (
	"time"

	"moka/kv"
)

// The shard's side. Command numbers are on the wire: never reuse one.
const (
	commandFetch   kv.CommandID = 64
	commandSettle  kv.CommandID = 65
	commandBacklog kv.CommandID = 66
	commandSweep   kv.CommandID = 67
)

// fetchWaitMost bounds a long poll, so that a worker that vanished without a word does not hold a goroutine for ever.
const fetchWaitMost = 30 * time.Second

type coprocessor struct{ now func() time.Time }

// NewCoprocessor returns what a node must host so that workers find notifications. now is the clock of leases; nil means
// time.Now.
func NewCoprocessor(now func() time.Time) kv.Coprocessor {
	if now == nil {
		now = time.Now
	}
	return &coprocessor{now: now}
}

func (*coprocessor) Name() string { return "triggers" }

func (*coprocessor) Groups() []kv.GroupSpec {
	return []kv.GroupSpec{
		{ID: kv.GroupNotify, Name: "notify", InMemory: true},
		{ID: kv.GroupNotifyMeta, Name: "notify-meta", InMemory: true},
	}
}

func (c *coprocessor) OpenShard(s kv.ShardHandle) (any, error) { return openReady(s, c.now) }

func (*coprocessor) Commands() []kv.Command {
	return []kv.Command{
		{
			ID: commandFetch, Name: "triggers.Fetch", Evaluate: fetch,
			NewRequest:  func() kv.Message { return new(fetchRequest) },
			NewResponse: func() kv.Message { return new(fetchResponse) },
		},
		{
			ID: commandSettle, Name: "triggers.Settle", Evaluate: settle, Write: true,
			NewRequest:  func() kv.Message { return new(settleRequest) },
			NewResponse: func() kv.Message { return new(empty) },
			Rows: func(m kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, m.(*settleRequest).Column.Row)
			},
		},
		{
			ID: commandBacklog, Name: "triggers.Backlog", Evaluate: backlog,
			NewRequest:  func() kv.Message { return new(backlogRequest) },
			NewResponse: func() kv.Message { return new(backlogResponse) },
		},
		{
			ID: commandSweep, Name: "triggers.Sweep", Evaluate: sweep,
			NewRequest:  func() kv.Message { return new(sweepRequest) },
			NewResponse: func() kv.Message { return new(sweepResponse) },
		},
	}
}

// fetch waits until there is something to do. It blocks, holding nothing.
func fetch(e kv.Eval, m kv.Message) (kv.Message, error) {
	req, r := m.(*fetchRequest), e.State().(*ready)
	r.done(req.Done)
	if len(req.Observers) == 0 || req.Credits == 0 {
		return &fetchResponse{}, nil
	}
	deadline := r.now().Add(min(time.Duration(req.WaitMillis)*time.Millisecond, fetchWaitMost))
	lease := time.Duration(req.LeaseMillis) * time.Millisecond
	for {
		ds, due, signal := r.take(req.Observers, int(min(req.Credits, queueBound)), lease)
		wait := deadline.Sub(r.now())
		if len(ds) > 0 || wait <= 0 {
			return &fetchResponse{Deliveries: ds}, nil
		}
		if !due.IsZero() {
			wait = min(wait, max(due.Sub(r.now()), time.Millisecond))
		}
		timer := time.NewTimer(wait)
		select {
		case <-signal:
		case <-timer.C:
		case <-e.Context().Done():
			timer.Stop()
			return nil, e.Context().Err()
		}
		timer.Stop()
	}
}

// settle is a write under the row's latch, so it cannot pass a commit that sets the notification anew.
func settle(e kv.Eval, m kv.Message) (kv.Message, error) {
	req, r := m.(*settleRequest), e.State().(*ready)
	note := kv.Address{Group: kv.GroupNotify, Run: req.Observer, Column: req.Column}
	state := kv.Address{Group: kv.GroupNotifyMeta, Run: req.Observer, Column: req.Column}
	switch req.Kind {
	case settleClear, settleDrop:
		upTo := req.UpTo
		if req.Kind == settleDrop {
			upTo = kv.MaxTimestamp
		}
		if err := deleteUpTo(e, note, upTo); err != nil {
			return nil, err
		}
		if _, ok, err := e.Get(state, metaTimestamp); err != nil {
			return nil, err
		} else if ok {
			e.Delete(state, metaTimestamp)
		}
		e.OnDurable(func() { r.forget(req.Observer, req.Column); r.requeue(req.Observer, req.Column) })
	case settleFail, settlePark:
		s := meta{
			Parked: req.Kind == settlePark, Attempts: req.Attempts, Error: req.Error,
			NotBefore: r.now().Add(time.Duration(req.RetryMillis) * time.Millisecond).UnixMilli(),
		}
		e.Set(state, metaTimestamp, s.encode())
		// A lost count costs one more attempt, no more.
		if req.Kind == settleFail {
			e.NoSync()
		}
		e.OnDurable(func() { r.remember(req.Observer, req.Column, s) })
	case settleRetry:
		e.Delete(state, metaTimestamp)
		e.OnDurable(func() { r.forget(req.Observer, req.Column); r.requeue(req.Observer, req.Column) })
	}
	return &empty{}, nil
}

// deleteUpTo removes the notifications of a column that are at or below ts.
func deleteUpTo(e kv.Eval, a kv.Address, ts kv.Timestamp) error {
	for {
		v, ok, err := e.Latest(a, ts)
		if err != nil || !ok {
			return err
		}
		e.Delete(a, v.Timestamp)
		if v.Timestamp == 0 {
			return nil
		}
		ts = v.Timestamp - 1
	}
}

// requeue makes a notification ready again if entries of it remain.
func (r *ready) requeue(o ObserverID, c kv.Column) {
	v, ok, err := r.shard.Reader().Latest(kv.Address{Group: kv.GroupNotify, Run: o, Column: c}, kv.MaxTimestamp)
	if err == nil && ok {
		r.changed(o, c, v.Timestamp)
	}
}

func backlog(e kv.Eval, m kv.Message) (kv.Message, error) {
	req := m.(*backlogRequest)
	notes, metas := e.Shard().InMemory(kv.GroupNotify), e.Shard().InMemory(kv.GroupNotifyMeta)
	counts := map[ObserverID]*backlogCount{}
	count := func(o ObserverID) *backlogCount {
		c := counts[o]
		if c == nil {
			c = &backlogCount{Observer: o}
			counts[o] = c
		}
		return c
	}
	parked := map[key]backlogItem{}
	res := &backlogResponse{}
	for run := range metas.Runs() {
		if req.Observer != 0 && req.Observer != run {
			continue
		}
		metas.Ascend(run, kv.Span{}, func(a kv.Address, v kv.Version) bool {
			if s, err := decodeMeta(v.Value); err == nil && s.Parked {
				d := delivery{Observer: run, Column: cloneColumn(a.Column), Attempts: s.Attempts}
				parked[keyOf(run, a.Column)] = backlogItem{d, s.Error}
				count(run).Parked++
			}
			return true
		})
	}
	for run := range notes.Runs() {
		if req.Observer != 0 && req.Observer != run {
			continue
		}
		c := count(run)
		notes.Ascend(run, kv.Span{}, func(a kv.Address, v kv.Version) bool {
			k := keyOf(run, a.Column)
			if p, ok := parked[k]; ok {
				p.CommitTS = max(p.CommitTS, v.Timestamp)
				parked[k] = p
				return true
			}
			c.Waiting++
			if c.Oldest == 0 || v.Timestamp < c.Oldest {
				c.Oldest = v.Timestamp
			}
			if !req.Parked && uint32(len(res.Items)) < req.Limit {
				d := delivery{Observer: run, Column: cloneColumn(a.Column), CommitTS: v.Timestamp}
				res.Items = append(res.Items, backlogItem{delivery: d})
			}
			return true
		})
	}
	for _, p := range parked {
		if req.Parked && uint32(len(res.Items)) < req.Limit {
			res.Items = append(res.Items, p)
		}
	}
	for _, c := range counts {
		res.Counts = append(res.Counts, *c)
	}
	return res, nil
}

func sweep(e kv.Eval, m kv.Message) (kv.Message, error) {
	req, r := m.(*sweepRequest), e.State().(*ready)
	if !r.claim(req.Observer, req.Start) {
		return &sweepResponse{Claimed: true}, nil
	}
	var cs []kv.Column
	var tss []kv.Timestamp
	res := &sweepResponse{}
	e.Shard().InMemory(kv.GroupNotify).Ascend(req.Observer, kv.Span{Start: req.Start}, func(a kv.Address, v kv.Version) bool {
		if res.Seen == req.Limit {
			res.Next = append(kv.RowKey(nil), a.Row...)
			return false
		}
		res.Seen++
		if v.Timestamp < req.Before {
			cs, tss = append(cs, cloneColumn(a.Column)), append(tss, v.Timestamp)
		}
		return true
	})
	res.Queued = uint32(r.swept(req.Observer, req.Start, res.Next, cs, tss))
	return res, nil
}
