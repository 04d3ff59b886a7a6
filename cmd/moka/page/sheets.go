package page

import "time"

// allSheets are the pages, in the order of the navigation.
func allSheets() []*sheet {
	return []*sheet{
		{path: "/", title: "Overview", every: time.Second, panels: []*panel{
			{id: "now", title: "Now", hint: "Means of the last ten seconds.", open: true, wide: true,
				template: "tiles", build: tilesNow},
			{id: "commits", title: "Commits by path", open: true, template: "chart", build: commitChart,
				hint: "One-phase: all rows in one shard. Async: acknowledged when all locks are durable. " +
					"Two-phase: Percolator's."},
			{id: "latency", title: "Latency of statements", open: true, template: "chart",
				build: latencyChart},
			{id: "fsync", title: "Syncs of the log", open: true, template: "chart", build: syncChart},
			{id: "errors", title: "Errors and conflicts", open: true, template: "chart", build: errorChart},
			{id: "replicas", title: "Replicas", open: true, wide: true, template: "table", build: replicas},
		}},
		{path: "/tablets", title: "Shards and tablets", every: 2 * time.Second, panels: []*panel{
			{id: "shards", title: "Shards", open: true, wide: true, template: "shards", build: shards},
			{id: "tablets", title: "Tablets by table", wide: true, template: "tablets", build: tablets,
				hint: "A tablet is a range of rows. Its colour is its shard, its strength what is asked of " +
					"it; the figures are estimates of the last ten seconds."},
		}},
		{path: "/transactions", title: "Transactions", every: time.Second, panels: []*panel{
			{id: "waits", title: "Who waits for whom", wide: true, template: "waits", build: waits},
			{id: "open", title: "Open transactions", wide: true, template: "open", build: openTransactions},
			{id: "locks", title: "Row locks", wide: true, template: "table", build: rowLocks},
			{id: "deadlocks", title: "Last deadlocks", wide: true, template: "table", build: deadlocks},
			{id: "processes", title: "Connections", wide: true, template: "processes", build: processes},
		}},
		{path: "/observers", title: "Observers", every: 2 * time.Second, panels: []*panel{
			{id: "runs", title: "Runs", open: true, wide: true, template: "chart", build: runChart,
				hint: "Collapsed: deliveries whose change an earlier run had already seen."},
			{id: "observers", title: "Observers", wide: true, template: "observers", build: observers},
			{id: "parked", title: "Parked and failing changes", wide: true, template: "failing",
				build: failing},
			{id: "graph", title: "What sets off what", wide: true, template: "graph", build: graph,
				hint: "Tables, their observers, and the tables to which those have written. Cycles are red."},
		}},
		{path: "/statements", title: "Statements", every: 5 * time.Second, panels: []*panel{
			{id: "plan", title: "Plan", wide: true, template: "plan", build: plan},
			{id: "statements", title: "Statements by digest", wide: true, template: "statements",
				build: statementList},
		}},
		{path: "/jobs", title: "Jobs", every: 2 * time.Second, panels: []*panel{
			{id: "jobs", title: "Jobs", wide: true, template: "jobs", build: jobs,
				hint: "Work that takes many transactions: changes of schemas, and what fills indexes."},
		}},
		{path: "/mix", title: "Workload", every: time.Second, panels: []*panel{
			{id: "mix", title: "TPC-E-like mix", wide: true, open: true, template: "mix", build: mix},
		}},
		{path: "/settings", title: "Settings", every: 30 * time.Second, panels: []*panel{
			{id: "settings", title: "Settings of this process", wide: true, template: "settings",
				build: settings},
		}},
	}
}
