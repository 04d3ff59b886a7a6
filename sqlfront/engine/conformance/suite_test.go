package conformance

import (
	"os"
	"reflect"
	"testing"

	"github.com/dolthub/go-mysql-server/enginetest"
	"github.com/dolthub/go-mysql-server/enginetest/queries"
)

type suite struct {
	name  string
	short bool // runs in make test
	run   func(t *testing.T, h *harness)
}

var suites = []suite{
	{name: "AddColumn", run: func(t *testing.T, h *harness) { enginetest.TestAddColumn(t, h) }},
	{name: "AddDropPks", short: true, run: func(t *testing.T, h *harness) { enginetest.TestAddDropPks(t, h) }},
	{name: "AlterTable", short: true, run: func(t *testing.T, h *harness) { enginetest.TestAlterTable(t, h) }},
	{name: "AmbiguousColumnResolution", run: func(t *testing.T, h *harness) { enginetest.TestAmbiguousColumnResolution(t, h) }},
	{name: "AnsiQuotesSqlMode", run: func(t *testing.T, h *harness) { enginetest.TestAnsiQuotesSqlMode(t, h) }},
	{name: "AnsiQuotesSqlModePrepared", run: func(t *testing.T, h *harness) { enginetest.TestAnsiQuotesSqlModePrepared(t, h) }},
	{name: "Blobs", short: true, run: func(t *testing.T, h *harness) { enginetest.TestBlobs(t, h) }},
	{name: "BrokenInsertScripts", run: func(t *testing.T, h *harness) { enginetest.TestBrokenInsertScripts(t, h) }},
	{name: "BrokenJSONTableScripts", run: func(t *testing.T, h *harness) { enginetest.TestBrokenJSONTableScripts(t, h) }},
	{name: "BrokenQueries", run: func(t *testing.T, h *harness) { enginetest.TestBrokenQueries(t, h) }},
	{name: "CharsetCollationEngine", short: true, run: func(t *testing.T, h *harness) { enginetest.TestCharsetCollationEngine(t, h) }},
	{name: "CharsetCollationWire", run: func(t *testing.T, h *harness) { enginetest.TestCharsetCollationWire(t, h, h.SessionBuilder()) }},
	{name: "ChecksOnInsert", short: true, run: func(t *testing.T, h *harness) { enginetest.TestChecksOnInsert(t, h) }},
	{name: "ChecksOnUpdate", short: true, run: func(t *testing.T, h *harness) { enginetest.TestChecksOnUpdate(t, h) }},
	{name: "ClearWarnings", run: func(t *testing.T, h *harness) { enginetest.TestClearWarnings(t, h) }},
	{name: "ColumnAliases", run: func(t *testing.T, h *harness) { enginetest.TestColumnAliases(t, h) }},
	{name: "ColumnDefaults", short: true, run: func(t *testing.T, h *harness) { enginetest.TestColumnDefaults(t, h) }},
	{name: "ComplexIndexQueries", short: true, run: func(t *testing.T, h *harness) { enginetest.TestComplexIndexQueries(t, h) }},
	{name: "ComplexIndexQueriesPrepared", run: func(t *testing.T, h *harness) { enginetest.TestComplexIndexQueriesPrepared(t, h) }},
	{name: "ConcurrentCreateDatabaseIfNotExists", run: func(t *testing.T, h *harness) { enginetest.TestConcurrentCreateDatabaseIfNotExists(t, h) }},
	{name: "ConcurrentDropDatabaseIfExists", run: func(t *testing.T, h *harness) { enginetest.TestConcurrentDropDatabaseIfExists(t, h) }},
	{name: "ConcurrentProcessList", run: func(t *testing.T, h *harness) { enginetest.TestConcurrentProcessList(t, h) }},
	{name: "ConcurrentTransactions", run: func(t *testing.T, h *harness) { enginetest.TestConcurrentTransactions(t, h) }},
	{name: "Convert", run: func(t *testing.T, h *harness) { enginetest.TestConvert(t, h) }},
	{name: "ConvertPrepared", run: func(t *testing.T, h *harness) { enginetest.TestConvertPrepared(t, h) }},
	{name: "CreateCheckConstraints", run: func(t *testing.T, h *harness) { enginetest.TestCreateCheckConstraints(t, h) }},
	{name: "CreateCheckConstraintsScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestCreateCheckConstraintsScriptsPrepared(t, h) }},
	{name: "CreateDatabase", run: func(t *testing.T, h *harness) { enginetest.TestCreateDatabase(t, h) }},
	{name: "CreateForeignKeys", run: func(t *testing.T, h *harness) { enginetest.TestCreateForeignKeys(t, h) }},
	{name: "CreateTable", short: true, run: func(t *testing.T, h *harness) { enginetest.TestCreateTable(t, h) }},
	{name: "CurrentTimestamp", run: func(t *testing.T, h *harness) { enginetest.TestCurrentTimestamp(t, h) }},
	{name: "DatabaseCollationWire", run: func(t *testing.T, h *harness) { enginetest.TestDatabaseCollationWire(t, h, h.SessionBuilder()) }},
	{name: "DateParse", run: func(t *testing.T, h *harness) { enginetest.TestDateParse(t, h) }},
	{name: "Delete", short: true, run: func(t *testing.T, h *harness) { enginetest.TestDelete(t, h) }},
	{name: "DeleteErrors", run: func(t *testing.T, h *harness) { enginetest.TestDeleteErrors(t, h) }},
	{name: "DeleteQueriesPrepared", run: func(t *testing.T, h *harness) { enginetest.TestDeleteQueriesPrepared(t, h) }},
	{name: "DerivedTableOuterScopeVisibility", run: func(t *testing.T, h *harness) { enginetest.TestDerivedTableOuterScopeVisibility(t, h) }},
	{name: "DisallowedCheckConstraints", run: func(t *testing.T, h *harness) { enginetest.TestDisallowedCheckConstraints(t, h) }},
	{name: "DropCheckConstraints", run: func(t *testing.T, h *harness) { enginetest.TestDropCheckConstraints(t, h) }},
	{name: "DropColumn", run: func(t *testing.T, h *harness) { enginetest.TestDropColumn(t, h) }},
	{name: "DropColumnKeylessTables", run: func(t *testing.T, h *harness) { enginetest.TestDropColumnKeylessTables(t, h) }},
	{name: "DropDatabase", run: func(t *testing.T, h *harness) { enginetest.TestDropDatabase(t, h) }},
	{name: "DropForeignKeys", run: func(t *testing.T, h *harness) { enginetest.TestDropForeignKeys(t, h) }},
	{name: "DropTable", run: func(t *testing.T, h *harness) { enginetest.TestDropTable(t, h) }},
	{name: "Events", run: func(t *testing.T, h *harness) { enginetest.TestEvents(t, h) }},
	{name: "ForeignKeys", short: true, run: func(t *testing.T, h *harness) { enginetest.TestForeignKeys(t, h) }},
	{name: "FulltextIndexes", run: func(t *testing.T, h *harness) { enginetest.TestFulltextIndexes(t, h) }},
	{name: "GeneratedColumns", short: true, run: func(t *testing.T, h *harness) { enginetest.TestGeneratedColumns(t, h) }},
	{name: "IgnoreIntoWithDuplicateUniqueKeyKeyless", run: func(t *testing.T, h *harness) { enginetest.TestIgnoreIntoWithDuplicateUniqueKeyKeyless(t, h) }},
	{name: "IgnoreIntoWithDuplicateUniqueKeyKeylessPrepared", run: func(t *testing.T, h *harness) { enginetest.TestIgnoreIntoWithDuplicateUniqueKeyKeylessPrepared(t, h) }},
	{name: "IndexPrefix", short: true, run: func(t *testing.T, h *harness) { enginetest.TestIndexPrefix(t, h) }},
	{name: "IndexedExpressions", short: true, run: func(t *testing.T, h *harness) { enginetest.TestIndexedExpressions(t, h) }},
	{name: "Indexes", short: true, run: func(t *testing.T, h *harness) { enginetest.TestIndexes(t, h) }},
	{name: "InfoSchema", run: func(t *testing.T, h *harness) { enginetest.TestInfoSchema(t, h) }},
	{name: "InfoSchemaPrepared", run: func(t *testing.T, h *harness) { enginetest.TestInfoSchemaPrepared(t, h) }},
	{name: "InnerNestedInNaturalJoins", run: func(t *testing.T, h *harness) { enginetest.TestInnerNestedInNaturalJoins(t, h) }},
	{name: "InsertDuplicateKeyKeyless", run: func(t *testing.T, h *harness) { enginetest.TestInsertDuplicateKeyKeyless(t, h) }},
	{name: "InsertDuplicateKeyKeylessPrepared", run: func(t *testing.T, h *harness) { enginetest.TestInsertDuplicateKeyKeylessPrepared(t, h) }},
	{name: "InsertErrorScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestInsertErrorScriptsPrepared(t, h) }},
	{name: "InsertIgnoreInto", short: true, run: func(t *testing.T, h *harness) { enginetest.TestInsertIgnoreInto(t, h) }},
	{name: "InsertIgnoreScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestInsertIgnoreScriptsPrepared(t, h) }},
	{name: "InsertInto", short: true, run: func(t *testing.T, h *harness) { enginetest.TestInsertInto(t, h) }},
	{name: "InsertIntoErrors", run: func(t *testing.T, h *harness) { enginetest.TestInsertIntoErrors(t, h) }},
	{name: "InsertQueriesPrepared", run: func(t *testing.T, h *harness) { enginetest.TestInsertQueriesPrepared(t, h) }},
	{name: "InsertScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestInsertScriptsPrepared(t, h) }},
	{name: "JSONTableQueries", run: func(t *testing.T, h *harness) { enginetest.TestJSONTableQueries(t, h) }},
	{name: "JSONTableQueriesPrepared", run: func(t *testing.T, h *harness) { enginetest.TestJSONTableQueriesPrepared(t, h) }},
	{name: "JSONTableScripts", run: func(t *testing.T, h *harness) { enginetest.TestJSONTableScripts(t, h) }},
	{name: "JSONTableScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestJSONTableScriptsPrepared(t, h) }},
	{name: "JoinOps", run: func(t *testing.T, h *harness) {
		enginetest.TestJoinOps(t, h, without(enginetest.DefaultJoinOpTests, "name", h.suite))
	}},
	{name: "JoinPlanning", run: func(t *testing.T, h *harness) { enginetest.TestJoinPlanning(t, h) }},
	{name: "JoinQueries", short: true, run: func(t *testing.T, h *harness) { enginetest.TestJoinQueries(t, h) }},
	{name: "JoinQueriesPrepared", run: func(t *testing.T, h *harness) { enginetest.TestJoinQueriesPrepared(t, h) }},
	{name: "JoinStats", run: func(t *testing.T, h *harness) { enginetest.TestJoinStats(t, h) }},
	{name: "JsonScripts", run: func(t *testing.T, h *harness) { enginetest.TestJsonScripts(t, h, nil) }},
	{name: "JsonScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestJsonScriptsPrepared(t, h, nil) }},
	{name: "LargeGeometryScripts", run: func(t *testing.T, h *harness) { enginetest.TestLargeGeometryScripts(t, h) }},
	{name: "LargeGeometryScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestLargeGeometryScriptsPrepared(t, h) }},
	{name: "LateralJoinQueries", run: func(t *testing.T, h *harness) { enginetest.TestLateralJoinQueries(t, h) }},
	{name: "LoadData", short: true, run: func(t *testing.T, h *harness) { enginetest.TestLoadData(t, h) }},
	{name: "LoadDataErrors", run: func(t *testing.T, h *harness) { enginetest.TestLoadDataErrors(t, h) }},
	{name: "LoadDataFailing", run: func(t *testing.T, h *harness) { enginetest.TestLoadDataFailing(t, h) }},
	{name: "LoadDataPrepared", run: func(t *testing.T, h *harness) { enginetest.TestLoadDataPrepared(t, h) }},
	{name: "ModifyColumn", short: true, run: func(t *testing.T, h *harness) { enginetest.TestModifyColumn(t, h) }},
	{name: "MySqlDb", run: func(t *testing.T, h *harness) { enginetest.TestMySqlDb(t, h) }},
	{name: "MySqlDbPrepared", run: func(t *testing.T, h *harness) { enginetest.TestMySqlDbPrepared(t, h) }},
	{name: "NamedWindows", run: func(t *testing.T, h *harness) { enginetest.TestNamedWindows(t, h) }},
	{name: "NaturalJoin", run: func(t *testing.T, h *harness) { enginetest.TestNaturalJoin(t, h) }},
	{name: "NaturalJoinDisjoint", run: func(t *testing.T, h *harness) { enginetest.TestNaturalJoinDisjoint(t, h) }},
	{name: "NaturalJoinEqual", run: func(t *testing.T, h *harness) { enginetest.TestNaturalJoinEqual(t, h) }},
	{name: "NoDatabaseSelected", run: func(t *testing.T, h *harness) { enginetest.TestNoDatabaseSelected(t, h) }},
	{name: "NullRanges", short: true, run: func(t *testing.T, h *harness) { enginetest.TestNullRanges(t, h) }},
	{name: "NumericErrorScripts", run: func(t *testing.T, h *harness) { enginetest.TestNumericErrorScripts(t, h) }},
	{name: "OnUpdateExprScripts", short: true, run: func(t *testing.T, h *harness) { enginetest.TestOnUpdateExprScripts(t, h) }},
	{name: "OrderByGroupBy", run: func(t *testing.T, h *harness) { enginetest.TestOrderByGroupBy(t, h) }},
	{name: "Persist", run: func(t *testing.T, h *harness) { enginetest.TestPersist(t, h, h.persistable) }},
	{name: "PkOrdinalsDDL", short: true, run: func(t *testing.T, h *harness) { enginetest.TestPkOrdinalsDDL(t, h) }},
	{name: "PkOrdinalsDML", run: func(t *testing.T, h *harness) { enginetest.TestPkOrdinalsDML(t, h) }},
	{name: "Prepared", run: func(t *testing.T, h *harness) { enginetest.TestPrepared(t, h) }},
	{name: "PreparedInsert", run: func(t *testing.T, h *harness) { enginetest.TestPreparedInsert(t, h) }},
	{name: "PreparedStatements", short: true, run: func(t *testing.T, h *harness) { enginetest.TestPreparedStatements(t, h) }},
	{name: "PrivilegePersistence", run: func(t *testing.T, h *harness) { enginetest.TestPrivilegePersistence(t, h) }},
	{name: "Queries", short: true, run: func(t *testing.T, h *harness) { enginetest.TestQueries(t, h) }},
	{name: "QueriesPrepared", run: func(t *testing.T, h *harness) { enginetest.TestQueriesPrepared(t, h) }},
	{name: "QueryErrors", run: func(t *testing.T, h *harness) { enginetest.TestQueryErrors(t, h) }},
	{name: "ReadOnly", run: func(t *testing.T, h *harness) { enginetest.TestReadOnly(t, h, true) }},
	{name: "RecursiveViewDefinition", run: func(t *testing.T, h *harness) { enginetest.TestRecursiveViewDefinition(t, h) }},
	{name: "RenameColumn", run: func(t *testing.T, h *harness) { enginetest.TestRenameColumn(t, h) }},
	{name: "RenameTable", run: func(t *testing.T, h *harness) { enginetest.TestRenameTable(t, h) }},
	{name: "ReplaceInto", short: true, run: func(t *testing.T, h *harness) { enginetest.TestReplaceInto(t, h) }},
	{name: "ReplaceIntoErrors", run: func(t *testing.T, h *harness) { enginetest.TestReplaceIntoErrors(t, h) }},
	{name: "ReplaceQueriesPrepared", run: func(t *testing.T, h *harness) { enginetest.TestReplaceQueriesPrepared(t, h) }},
	{name: "RollbackTriggers", run: func(t *testing.T, h *harness) { enginetest.TestRollbackTriggers(t, h) }},
	{name: "RowLimit", run: func(t *testing.T, h *harness) { enginetest.TestRowLimit(t, h) }},
	{name: "SQLLogicTests", run: func(t *testing.T, h *harness) { enginetest.TestSQLLogicTests(t, h) }},
	{name: "Scripts", short: true, run: func(t *testing.T, h *harness) { enginetest.TestScripts(t, h) }},
	{name: "ScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestScriptsPrepared(t, h) }},
	{name: "SelectIntoFile", run: func(t *testing.T, h *harness) { enginetest.TestSelectIntoFile(t, h) }},
	{name: "SessionSelectLimit", run: func(t *testing.T, h *harness) { enginetest.TestSessionSelectLimit(t, h) }},
	{name: "ShowTableStatus", run: func(t *testing.T, h *harness) { enginetest.TestShowTableStatus(t, h) }},
	{name: "ShowTableStatusPrepared", run: func(t *testing.T, h *harness) { enginetest.TestShowTableStatusPrepared(t, h) }},
	{name: "ShowTriggers", run: func(t *testing.T, h *harness) { enginetest.TestShowTriggers(t, h) }},
	{name: "SpatialDelete", run: func(t *testing.T, h *harness) { enginetest.TestSpatialDelete(t, h) }},
	{name: "SpatialIndexScripts", run: func(t *testing.T, h *harness) { enginetest.TestSpatialIndexScripts(t, h) }},
	{name: "SpatialIndexScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestSpatialIndexScriptsPrepared(t, h) }},
	{name: "SpatialInsertInto", run: func(t *testing.T, h *harness) { enginetest.TestSpatialInsertInto(t, h) }},
	{name: "SpatialQueries", run: func(t *testing.T, h *harness) { enginetest.TestSpatialQueries(t, h) }},
	{name: "SpatialQueriesPrepared", run: func(t *testing.T, h *harness) { enginetest.TestSpatialQueriesPrepared(t, h) }},
	{name: "SpatialScripts", run: func(t *testing.T, h *harness) { enginetest.TestSpatialScripts(t, h) }},
	{name: "SpatialScriptsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestSpatialScriptsPrepared(t, h) }},
	{name: "SpatialUpdate", run: func(t *testing.T, h *harness) { enginetest.TestSpatialUpdate(t, h) }},
	{name: "StatisticIndexFilters", run: func(t *testing.T, h *harness) { enginetest.TestStatisticIndexFilters(t, h) }},
	{name: "Statistics", run: func(t *testing.T, h *harness) { enginetest.TestStatistics(t, h) }},
	{name: "StatisticsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestStatisticsPrepared(t, h) }},
	{name: "StoredProcedures", short: true, run: func(t *testing.T, h *harness) { enginetest.TestStoredProcedures(t, h) }},
	{name: "TimeQueries", run: func(t *testing.T, h *harness) { enginetest.TestTimeQueries(t, h) }},
	{name: "Tracing", run: func(t *testing.T, h *harness) { enginetest.TestTracing(t, h) }},
	{name: "TransactionScripts", short: true, run: func(t *testing.T, h *harness) { enginetest.TestTransactionScripts(t, h) }},
	{name: "TriggerErrors", run: func(t *testing.T, h *harness) { enginetest.TestTriggerErrors(t, h) }},
	{name: "Triggers", short: true, run: func(t *testing.T, h *harness) { enginetest.TestTriggers(t, h) }},
	{name: "Truncate", run: func(t *testing.T, h *harness) { enginetest.TestTruncate(t, h) }},
	{name: "TupleQueries", run: func(t *testing.T, h *harness) { enginetest.TestTupleQueries(t, h) }},
	{name: "TypesOverWire", short: true, run: func(t *testing.T, h *harness) {
		queries.TypeWireTests = without(queries.TypeWireTests, "Name", h.suite)
		for i := range queries.TypeWireTests {
			withoutQueries(&queries.TypeWireTests[i], h.suite)
		}
		enginetest.TestTypesOverWire(t, h, h.SessionBuilder())
	}},
	{name: "Update", short: true, run: func(t *testing.T, h *harness) { enginetest.TestUpdate(t, h) }},
	{name: "UpdateErrors", run: func(t *testing.T, h *harness) { enginetest.TestUpdateErrors(t, h) }},
	{name: "UpdateIgnore", run: func(t *testing.T, h *harness) { enginetest.TestUpdateIgnore(t, h) }},
	{name: "UpdateQueriesPrepared", run: func(t *testing.T, h *harness) { enginetest.TestUpdateQueriesPrepared(t, h) }},
	{name: "Use", run: func(t *testing.T, h *harness) { enginetest.TestUse(t, h) }},
	{name: "UserAuthentication", run: func(t *testing.T, h *harness) { enginetest.TestUserAuthentication(t, h) }},
	{name: "UserPrivileges", short: true, run: func(t *testing.T, h *harness) { enginetest.TestUserPrivileges(t, h) }},
	{name: "VariableErrors", run: func(t *testing.T, h *harness) { enginetest.TestVariableErrors(t, h) }},
	{name: "Variables", run: func(t *testing.T, h *harness) { enginetest.TestVariables(t, h) }},
	{name: "VectorFunctions", run: func(t *testing.T, h *harness) { enginetest.TestVectorFunctions(t, h) }},
	{name: "VectorIndexes", run: func(t *testing.T, h *harness) { enginetest.TestVectorIndexes(t, h) }},
	{name: "VectorType", run: func(t *testing.T, h *harness) { enginetest.TestVectorType(t, h) }},
	{name: "Views", short: true, run: func(t *testing.T, h *harness) { enginetest.TestViews(t, h) }},
	{name: "ViewsPrepared", run: func(t *testing.T, h *harness) { enginetest.TestViewsPrepared(t, h) }},
	{name: "Warnings", run: func(t *testing.T, h *harness) { enginetest.TestWarnings(t, h) }},
	{name: "WindowFunctions", run: func(t *testing.T, h *harness) { enginetest.TestWindowFunctions(t, h) }},
	{name: "WindowRangeFrames", run: func(t *testing.T, h *harness) { enginetest.TestWindowRangeFrames(t, h) }},
	{name: "WindowRowFrames", run: func(t *testing.T, h *harness) { enginetest.TestWindowRowFrames(t, h) }},
}

// TestSuite runs the entries marked short; with MOKA_CONFORMANCE=all it runs them all.
func TestSuite(t *testing.T) {
	all := os.Getenv("MOKA_CONFORMANCE") == "all"
	ran := 0
	for _, s := range suites {
		if _, out := notRun[s.name]; out || !all && !s.short {
			continue
		}
		ran++
		t.Run(s.name, func(t *testing.T) { s.run(t, newHarness(t, s.name)) })
	}
	t.Logf("%d of %d entries of the suite; of %d queries and scripts that they ask for, %d are left out", ran, len(suites), asked, leftOut)
	if all && leftOut*100 > asked*2 {
		t.Errorf("more than two in a hundred are left out: %d of %d", leftOut, asked)
	}
}

// without takes scripts that are left out from a list of the suite that does not ask, some of which have fields of their own.
func without[T any](tests []T, field, suite string) (kept []T) {
	for _, test := range tests {
		if !skip(suite, reflect.ValueOf(test).FieldByName(field).String()) {
			kept = append(kept, test)
		}
	}
	return kept
}

// withoutQueries takes queries that are left out from a script.
func withoutQueries(script *queries.TypeWireTest, suite string) {
	kept := *script
	kept.Queries, kept.Results = nil, nil
	for i, q := range script.Queries {
		if !skip(suite, q) {
			kept.Queries = append(kept.Queries, q)
			kept.Results = append(kept.Results, script.Results[i])
		}
	}
	*script = kept
}
