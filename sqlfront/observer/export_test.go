package observer

// SpareBytes is what compiled bodies weigh that no run uses.
func (r *Registry) SpareBytes() int64 { return r.bodies.Weighs() }

// Running counts the runs under way.
func (r *Registry) Running() int { return r.o.Runners - len(r.slots) }
