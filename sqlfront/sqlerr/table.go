package sqlerr

import (
	"regexp"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	errkind "gopkg.in/src-d/go-errors.v1"
)

// mapping says how an error of go-mysql-server looks and what MySQL would have said.
//
// The pattern is made from the library's own message template, so that an upgrade that changes a sentence changes the
// pattern with it; what the template does not say (its number at MySQL) is here. In text, $1, $2 … are the template's
// arguments, $db.1 is the first argument qualified with the current database, $clause the clause of the statement that
// names it. An empty text keeps the library's words.
type mapping struct {
	kind *errkind.Kind
	like string // instead of kind: a regular expression, for messages that have no kind
	code int
	text string
}

var mappings = []mapping{
	// Statement and names.
	{like: `^(?:Code: \w+\s+)?(?:.*: )?syntax error at position (\d+)(?: near '(?s:(.*?))')?\s*$`, code: SyntaxError}, // see syntax.go
	{kind: sql.ErrInvalidSyntax, code: SyntaxError},
	{kind: sql.ErrTableNotFound, code: NoSuchTable, text: "Table '$db.1' doesn't exist"},
	{kind: sql.ErrUnknownTable, code: BadTable, text: "Unknown table '$1'"},
	{kind: sql.ErrTableAlreadyExists, code: TableExists, text: "Table '$1' already exists"},
	{kind: sql.ErrExistingView, code: TableExists, text: "Table '$2' already exists"},
	{kind: sql.ErrViewDoesNotExist, code: BadTable, text: "Unknown table '$1.$2'"},
	{kind: sql.ErrInvalidRefInView, code: ViewInvalid},
	{kind: sql.ErrColumnCountMismatch, code: ViewWrongList},
	{kind: plan.ErrNotView, code: WrongObject},
	{kind: sql.ErrExpectedTableFoundView, code: WrongObject, text: "'$1' is not BASE TABLE"},
	{kind: plan.ErrUpdateForTableNotSupported, code: NonUpdatableTable},
	{kind: sql.ErrTableColumnNotFound, code: BadField, text: "Unknown column '$2' in '$clause'"},
	{kind: sql.ErrColumnNotFound, code: BadField, text: "Unknown column '$1' in '$clause'"},
	{kind: sql.ErrUnknownColumn, code: BadField},
	{kind: sql.ErrMisusedAlias, code: BadField, text: "Unknown column '$1' in '$clause'"},
	{kind: sql.ErrAmbiguousColumnName, code: NonUniqueColumn, text: "Column '$1' in $clause is ambiguous"},
	{kind: sql.ErrAmbiguousColumnOrAliasName, code: NonUniqueColumn, text: "Column '$1' in $clause is ambiguous"},
	{kind: sql.ErrAmbiguousColumnInOrderBy, code: NonUniqueColumn, text: "Column '$1' in order clause is ambiguous"},
	{kind: sql.ErrDuplicateAliasOrTable, code: NonUniqueTable, text: "Not unique table/alias: '$1'"},
	{kind: sql.ErrInvalidAsOfExpression, code: WrongValue,
		text: "Incorrect AS OF value: it is a time, and not NULL"},
	{kind: sql.ErrInvalidDefaultValueOrder, code: DefaultNonPrior,
		text: "Default value expression of column '$1' cannot refer to a column defined after it if that " +
			"column is a generated column or has an expression as default value."},
	{kind: sql.ErrColumnExists, code: DuplicateColumn, text: "Duplicate column name '$1'"},
	{kind: sql.ErrDuplicateColumn, code: DuplicateColumn, text: "Duplicate column name '$1'"},
	{kind: sql.ErrDatabaseExists, code: DBCreateExists, text: "Can't create database '$1'; database exists"},
	{kind: sql.ErrDatabaseNotFound, code: BadDatabase, text: "Unknown database '$1'"},
	{kind: sql.ErrNoDatabaseSelected, code: NoDatabase, text: "No database selected"},
	{like: `^no database selected`, code: NoDatabase, text: "No database selected"},
	{kind: sql.ErrIdentifierIsTooLong, code: IdentifierTooLong},
	{kind: sql.ErrInvalidIdentifier, code: IdentifierTooLong, text: "Identifier name '$1' is too long"},
	{kind: sql.ErrColumnSpecifiedTwice, code: FieldSpecifiedTwice, text: "Column '$1' specified twice"},
	{kind: sql.ErrCharSetInvalidString, code: InvalidCharacterString,
		text: "Invalid $1 character string: '$2'"},
	{kind: sql.ErrFunctionNotFound, code: FunctionNotFound, text: "FUNCTION $db.1 does not exist"},
	{kind: sql.ErrTableFunctionNotFound, code: FunctionNotFound, text: "FUNCTION $db.1 does not exist"},
	{like: `^(?i)function '(left|right|if|substr|substring|mid)' expected `, code: SyntaxError, // whose arguments are MySQL's grammar's
		text: "You have an error in your SQL syntax; incorrect parameter count in the call to '$1'"},
	{kind: sql.ErrInvalidArgumentNumber, code: WrongArguments, text: "Incorrect parameter count in the call to native function '$1'"},
	{kind: sql.ErrUnsupportedSyntax, code: UnsupportedFeature, text: "This version of Moka doesn't yet support '$1'"},
	{kind: sql.ErrUnsupportedFeature, code: UnsupportedFeature, text: "This version of Moka doesn't yet support '$1'"},

	// Keys, constraints.
	{kind: sql.ErrDuplicateKey, code: DuplicateKeyName},
	{kind: sql.ErrMultiplePrimaryKeysDefined, code: MultiplePrimaryKey, text: "Multiple primary key defined"},
	{kind: sql.ErrWrongAutoKey, code: WrongAutoKey,
		text: "Incorrect table definition; there can be only one auto column and it must be defined as a key"},
	{kind: sql.ErrInvalidAutoIncCols, code: WrongAutoKey,
		text: "Incorrect table definition; there can be only one auto column and it must be defined as a key"},
	{kind: sql.ErrKeyColumnDoesNotExist, code: KeyColumnNotFound, text: "Key column '$1' doesn't exist in table"},
	{kind: sql.ErrUnknownIndexColumn, code: KeyColumnNotFound, text: "Key column '$1' doesn't exist in table"},
	{kind: planbuilder.ErrPrimaryKeyOnNullField, code: PrimaryCantHaveNull,
		text: "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead"},
	{kind: sql.ErrCantDropFieldOrKey, code: CantDropFieldOrKey, text: "Can't DROP '$1'; check that column/key exists"},
	{kind: plan.ErrIndexNotFound, code: CantDropFieldOrKey, text: "Can't DROP '$1'; check that column/key exists"},
	{kind: sql.ErrUnknownConstraint, code: CheckNotFound, text: "Check constraint '$1' is not found in the table."},
	{kind: sql.ErrDuplicateCheckName, code: CheckDuplicate, text: "Duplicate check constraint name '$1'."},
	{kind: sql.ErrCheckConstraintViolated, code: CheckViolated, text: "Check constraint '$1' is violated."},
	{kind: sql.ErrCheckConstraintInvalidatedByColumnAlter, code: CheckDependency,
		text: "Check constraint '$2' uses column '$1', hence column cannot be dropped or renamed."},
	{kind: sql.ErrFullTextNotSupported, code: UnsupportedFeature, text: "This version of Moka doesn't yet support 'FULLTEXT indexes'"},
	{kind: sql.ErrNoFullTextIndexFound, code: NoFullText, text: "Can't find FULLTEXT index matching the column list"},
	{kind: sql.ErrJSONIndex, code: JSONKey, text: "JSON column '$1' supports indexing only via generated columns on a specified JSON path."},
	{kind: sql.ErrIllegalGISValue, code: IllegalValueForType,
		text: "Illegal non geometric '$1' value found during parsing"},
	{kind: types.ErrNotGeometry, code: InvalidGeometry, text: "Invalid GIS data provided to a function."},
	{like: `^st_\w+ received non-point type$`, code: InvalidGeometry,
		text: "Invalid GIS data provided to a function."},
	{kind: sql.ErrInvalidValueType, code: WrongExecuteArguments,
		text: "Incorrect arguments: a value that cannot be $2"},
	{kind: sql.ErrInvalidArgumentDetails, code: WrongExecuteArguments, text: "Incorrect arguments to $1"},
	{kind: sql.ErrInvalidArgumentType, code: WrongExecuteArguments, text: "Incorrect arguments to $1"},
	{like: `^unable to parse '(?s:(.*))' to UUID: `, code: WrongValueForType,
		text: "Incorrect string value: '$1' for function uuid_to_bin"},
	{kind: sql.ErrInvalidGISData, code: InvalidGeometry, text: "Invalid GIS data provided to function $1."},
	{kind: sql.ErrSpatialTypeConversion, code: NoGeometry, text: "Cannot get geometry object from data you send to the GEOMETRY field"},
	{kind: sql.ErrNotMatchingSRIDWithColName, code: WrongSRID},
	{kind: sql.ErrNoSRID, code: UnknownSRID, text: "There's no spatial reference system with SRID $1."},
	{kind: sql.ErrForeignKeyColumnTypeMismatch, code: ForeignKeyIncompatible,
		text: "Referencing column '$1' and referenced column '$2' in foreign key constraint are incompatible."},
	{kind: sql.ErrCharSetNotYetImplementedTemp, code: UnknownCharset, text: "Unknown character set: '$1'"},
	{kind: sql.ErrForeignKeyDuplicateName, code: ForeignKeyDuplicate, text: "Duplicate foreign key constraint name '$1'"},
	{kind: sql.ErrForeignKeyColumnCountMismatch, code: WrongForeignKey,
		text: "Incorrect foreign key definition for 'foreign key without name': Key reference and table reference don't match"},
	{kind: sql.ErrForeignKeySetNullNonNullable, code: ColumnCannotBeNotNull,
		text: "Column '$1' cannot be NOT NULL: needed in a foreign key constraint SET NULL"},
	{kind: sql.ErrInvalidIndexName, code: WrongIndexName, text: "Incorrect index name '$1'"},
	{kind: sql.ErrForeignKeyNotFound, code: ForeignKeyDrop, text: "Can't DROP '$1'; check that column/key exists"},
	{kind: sql.ErrForeignKeyMissingReferenceIndex, code: ForeignKeyAdd,
		text: "Failed to add the foreign key constraint. Missing index for constraint '$1' in the referenced table '$2'"},
	{kind: sql.ErrForeignKeyDropIndex, code: ForeignKeyDropIndex,
		text: "Cannot drop index '$1': needed in a foreign key constraint"},
	{kind: sql.ErrCantDropIndex, code: ForeignKeyDropIndex, text: "Cannot drop index '$1': needed in a foreign key constraint"},
	{kind: sql.ErrForeignKeyTypeChange, code: ForeignKeyColumnChange,
		text: "Cannot change column '$1': used in a foreign key constraint"},
	{kind: sql.ErrForeignKeyTypeChangeSetNull, code: ColumnCannotBeNotNull,
		text: "Column '$1' cannot be NOT NULL: needed in a foreign key constraint '$2' SET NULL"},
	{kind: sql.ErrForeignKeyDropTable, code: ForeignKeyTableDrop,
		text: "Cannot drop table '$1' referenced by a foreign key constraint '$2'."},
	{kind: sql.ErrForeignKeyDropColumn, code: ForeignKeyColumnDrop,
		text: "Cannot drop column '$1': needed in a foreign key constraint '$2'"},
	{kind: sql.ErrTruncateReferencedFromForeignKey, code: ForeignKeyTruncate,
		text: "Cannot truncate a table referenced in a foreign key constraint ($1, CONSTRAINT $2 on $3)"},
	{kind: sql.ErrForeignKeyNotResolved, code: NoReferencedRow,
		text: "Cannot add or update a child row: a foreign key constraint fails (`$1`.`$2`, CONSTRAINT `$3` FOREIGN KEY (`$4`) REFERENCES `$5` (`$6`))"},
	{kind: sql.ErrForeignKeyChildViolation, code: NoReferencedRow,
		text: "Cannot add or update a child row: a foreign key constraint fails (`$2`, CONSTRAINT `$1` FOREIGN KEY REFERENCES `$3`, key $4)"},
	{kind: sql.ErrForeignKeyParentViolation, code: RowIsReferenced,
		text: "Cannot delete or update a parent row: a foreign key constraint fails (`$2`, CONSTRAINT `$1` FOREIGN KEY REFERENCES `$3`, key $4)"},

	// Values.
	{kind: sql.ErrInsertIntoNonNullableProvidedNull, code: BadNull, text: "Column '$1' cannot be null"},
	{kind: sql.ErrInsertIntoNonNullableDefaultNullColumn, code: NoDefaultForField},
	{kind: sql.ErrColValCountMismatch, code: WrongValueCountOnRow},
	{kind: sql.ErrInsertIntoMismatchValueCount, code: WrongValueCountOnRow, text: "Column count doesn't match value count at row 1"},
	{kind: types.ErrLengthBeyondLimit, code: DataTooLong, text: "Data too long for column '$2' at row 1"},
	{kind: function.ErrTooHighPrecision, code: TooBigPrecision,
		text: "Too-big precision $1 specified for '$2'. Maximum is $3."},
	{kind: types.ErrLengthTooLarge, code: ColumnTooLong, text: "Column length too big (max = $2); use BLOB or TEXT instead"},
	{like: `^Too big precision (\d+) specified. Maximum is (\d+)\.$`, code: TooBigPrecision, text: "Too-big precision $1 specified. Maximum is $2."},
	{like: `^(?:DATETIME|TIME|TIMESTAMP) supports precision from 0 to (\d)$`, code: TooBigPrecision, text: "Too-big precision specified. Maximum is $1."},
	{kind: sql.ErrInvalidSetValue, code: DataTruncated},
	{like: `^empty statement$`, code: EmptyQuery, text: "Query was empty"},
	{like: `^bind variable not provided: `, code: WrongExecuteArguments, text: "Incorrect arguments to EXECUTE"},
	{like: `^invalid arguments\. expected: \d+, found: \d+$`, code: WrongExecuteArguments, text: "Incorrect arguments to EXECUTE"},
	{like: `^(.*) is beyond the maximum value that can be held by (.*) bits$`, code: DataTooLong},
	{kind: sql.ErrValueOutOfRange, code: OutOfRange, text: "Out of range value: $1 for $2"},
	{kind: types.ErrConvertToDecimalLimit, code: OutOfRange},
	{kind: types.ErrConvertingToTimeOutOfRange, code: TruncatedWrongValue, text: "Incorrect $2 value: '$1'"},
	{kind: types.ErrConvertingToTime, code: TruncatedWrongValue},
	{kind: sql.ErrTruncatedIncorrect, code: TruncatedWrongValue},
	{kind: types.ErrDataTruncatedForColumn, code: DataTruncated},
	{kind: types.ErrDataTruncatedForColumnAtRow, code: DataTruncated},
	{kind: types.ErrConvertingToEnum, code: DataTruncated},
	{kind: types.ErrBadCharsetString, code: WrongValueForField},
	{like: `^error: '(.*)' is not a valid value for '(date|datetime|timestamp|time)(?:\(\d\))?'$`, code: TruncatedWrongValue, text: "Incorrect $2 value: '$1'"},
	{kind: sql.ErrAggregationUnsupported, code: InvalidGroupFunction, text: "Invalid use of group function"},
	{like: `couldn't convert to json: Invalid JSON text: `, code: InvalidJSONText, text: "Invalid JSON text in argument 1 to function cast_as_json"},
	{like: `^DATE_(?:ADD|SUB) expects an interval as second parameter$`, code: SyntaxError},
	{like: `^failed to resolve aggregate column argument: `, code: InvalidGroupFunction, text: "Invalid use of group function"},
	{like: `^Expression #\d+ of .* is not in GROUP BY clause`, code: WrongFieldWithGroup},
	{like: `^column ordinal out of range: (\d+)$`, code: BadField, text: "Unknown column '$1' in 'group statement'"},
	{kind: sql.ErrInvalidValue, code: WrongValueForField, text: "Incorrect value: '$1' for '$2'"},
	{kind: sql.ErrInvalidColumnDefaultValue, code: InvalidDefault},
	{kind: sql.ErrIncompatibleDefaultType, code: InvalidDefault},
	{kind: sql.ErrInvalidJson, code: InvalidJSON},
	{kind: sql.ErrInvalidJSONArgument, code: InvalidJSONType},
	{kind: sql.ErrGeneratedColumnValue, code: GeneratedColumnValue,
		text: "The value specified for generated column '$1' in table '$2' is not allowed."},
	{kind: sql.ErrCollationUnknown, code: UnknownCollation, text: "Unknown collation: '$1'"},
	{kind: sql.ErrCharSetUnknown, code: UnknownCharset, text: "Unknown character set: '$1'"},
	{kind: sql.ErrCollationIllegalMix, code: CollationMix},
	{kind: sql.ErrCollationInvalidForCharSet, code: CollationMismatch},
	{like: `^.* ?value is out of range`, code: DataOutOfRange},
	{like: `^value (.*) is not a valid Year$`, code: OutOfRange, text: "Out of range value: $1 for year"},
	{like: `^Scale (\d+) cannot be larger than the precision (\d+)$`, code: ScaleOverPrecision, text: "For float(M,D), double(M,D) or decimal(M,D), M must be >= D"},
	{like: `^duplicate entry: (.*)$`, code: DuplicatedValueInType, text: "Column has duplicated value '$1' in ENUM or SET"},
	{like: `^tuple should contain \d+ column\(s\), but has \d+$`, code: ViewWrongList, text: "View's SELECT and view's field list have different column counts"},
	{like: `^strconv\.ParseFloat: parsing "(.*)": value out of range$`, code: IllegalValueForType, text: "Illegal double '$1' value found during parsing"},
	{like: `Invalid JSON path expression\. `, code: InvalidJSONPath},
	{like: `^The JSON document exceeds the maximum depth\.$`, code: JSONTooDeep},
	{like: `^The oneOrAll argument to `, code: JSONOneOrAll},
	{like: `^SQLSTATE VALUE must be a string with length 5`, code: BadSQLState, text: "Bad SQLSTATE"},

	// Queries.
	{kind: sql.ErrNonAggregatedColumnWithoutGroupBy, code: 1140},
	{kind: sql.ErrExpectedSingleRow, code: SubqueryOneRow, text: "Subquery returns more than 1 row"},
	{kind: sql.ErrInvalidOperandColumns, code: OperandColumns, text: "Operand should contain $1 column(s)"},
	{kind: planbuilder.ErrSelectsDifferentLength, code: 1222, text: "The used SELECT statements have a different number of columns"},
	{kind: sql.ErrColumnNumberDoesNotMatch, code: 1222},
	{kind: sql.ErrMoreThanOneRow, code: 1172, text: "Result consisted of more than one row"},
	{like: `^WITH RECURSIVE iteration limit exceeded: (.*)$`, code: RecursionLimit, text: "$1"},
	{kind: sql.ErrCteRecursionLimitExceeded, code: RecursionLimit},

	// Sessions, variables, transactions.
	{kind: sql.ErrUnknownSystemVariable, code: UnknownSystemVariable, text: "Unknown system variable '$1'"},
	{kind: sql.ErrSystemVariableReadOnly, code: ReadOnlyVariable},
	{kind: sql.ErrSystemVariableSessionOnly, code: LocalVariable},
	{kind: sql.ErrSystemVariableGlobalOnly, code: GlobalVariable},
	{kind: sql.ErrInvalidSystemVariableValue, code: WrongValueForVariable},
	{kind: sql.ErrInvalidTimeZone, code: UnknownTimeZone, text: "Unknown or incorrect time zone: '$1'"},
	{kind: sql.ErrUnknownPreparedStatement, code: UnknownStmtHandler},
	{kind: sql.ErrReadOnlyTransaction, code: ReadOnlyTransaction, text: "Cannot execute statement in a READ ONLY transaction."},
	{kind: sql.ErrReadOnly, code: ReadOnlyServer},
	{kind: analyzererrors.ErrInvalidRowLength, code: TooBigRowSize, text: "Row size too large. The maximum row size for the used table type, not counting BLOBs, is $1. You have to change some columns to TEXT or BLOBs"},
	{kind: analyzererrors.ErrReadOnlyDatabase, code: ReadOnlySchema, text: "Schema '$1' is in read only mode."},
	{kind: sql.ErrCreateTableNotSupported, code: ReadOnlySchema, text: "Schema '$1' is in read only mode."},
	{kind: sql.ErrDropTableNotSupported, code: ReadOnlySchema, text: "Schema '$1' is in read only mode."},
	{kind: sql.ErrRenameTableNotSupported, code: ReadOnlySchema, text: "Schema '$1' is in read only mode."},
	{kind: plan.ErrInsertIntoNotSupported, code: NotUpdatable, text: "The target table of the INSERT is not updatable"},
	{kind: plan.ErrUpdateNotSupported, code: NotUpdatable, text: "The target table of the UPDATE is not updatable"},
	{kind: plan.ErrDeleteFromNotSupported, code: NotUpdatable, text: "The target table of the DELETE is not updatable"},
	{kind: sql.ErrSavepointDoesNotExist, code: SavepointUnknown},
	{like: `^(?:.*: )?context canceled$`, code: QueryInterrupted, text: "Query execution was interrupted"},
	{like: `^(?:.*: )?context deadline exceeded$`, code: QueryTimeout,
		text: "Query execution was interrupted, maximum statement execution time exceeded"},
	{like: `^query execution was interrupted$`, code: QueryInterrupted, text: "Query execution was interrupted"},
	{like: `^maximum statement execution time exceeded$`, code: QueryTimeout,
		text: "Query execution was interrupted, maximum statement execution time exceeded"},
	{like: `^server shutdown in progress$`, code: ServerShutdown, text: "Server shutdown in progress"},

	// Privileges.
	{kind: sql.ErrPrivilegeCheckFailed, code: TableAccessDenied},
	{kind: sql.ErrDatabaseAccessDeniedForUser, code: DBAccessDenied},
	{kind: sql.ErrTableAccessDeniedForUser, code: TableAccessDenied},
	{kind: sql.ErrUserCreationFailure, code: CannotUser},
	{kind: sql.ErrUserAlterFailure, code: CannotUser},
	{kind: sql.ErrUserDeletionFailure, code: CannotUser},
	{kind: sql.ErrRoleCreationFailure, code: CannotUser},
	{kind: sql.ErrRoleDeletionFailure, code: CannotUser},
	{kind: sql.ErrGrantUserDoesNotExist, code: 1410},
	{kind: sql.ErrShowGrantsUserDoesNotExist, code: NoSuchUserGrant},
	{kind: sql.ErrSecureFilePriv, code: ReadOnlyServer},

	// Stored programs.
	{kind: sql.ErrStoredProcedureDoesNotExist, code: NoSuchProcedure, text: "PROCEDURE $db.1 does not exist"},
	{kind: sql.ErrStoredProcedureAlreadyExists, code: ProcedureExists, text: "PROCEDURE $1 already exists"},
	{kind: sql.ErrCallIncorrectParameterCount, code: ProcedureArguments,
		text: "Incorrect number of arguments for PROCEDURE $1; expected $2, got $3"},
	{kind: sql.ErrTriggerDoesNotExist, code: TriggerNotFound, text: "Trigger does not exist"},
	{kind: sql.ErrTriggerTableInUse, code: TriggerTableInUse,
		text: "Can't update table '$1' in stored function/trigger because it is already used by statement which invoked this stored function/trigger."},
	{kind: sql.ErrInvalidUpdateOfOldRow, code: TriggerRowReadOnly, text: "Updating of OLD row is not allowed in trigger"},
	{kind: sql.ErrInvalidUpdateInAfterTrigger, code: TriggerRowReadOnly, text: "Updating of NEW row is not allowed in after trigger"},
	{kind: sql.ErrInvalidUseOfOldNew, code: NoSuchTriggerRow},
	{kind: sql.ErrEventAlreadyExists, code: EventExists},
	{kind: sql.ErrEventDoesNotExist, code: EventNotFound, text: "Unknown event '$1'"},
	{kind: sql.ErrUnknownEvent, code: EventNotFound},
	{like: `^exhausted fetch iterator$`, code: FetchNoData, text: "No data - zero rows fetched, selected, or processed"},
}

// compiled is a mapping ready to be matched; prefix is the literal start of the pattern, checked before the pattern runs.
type compiled struct {
	mapping
	prefix string
	re     *regexp.Regexp
}

// table is compiled at the first error of the process, not at start: it costs a millisecond.
var table = sync.OnceValue(func() []compiled {
	out := make([]compiled, 0, len(mappings))
	for _, m := range mappings {
		c := compiled{mapping: m}
		if m.kind != nil {
			c.prefix, c.re = patternOf(m.kind.Message)
		} else {
			c.re = regexp.MustCompile(m.like)
		}
		out = append(out, c)
	}
	return out
})

func init() {
	// The library words a value that is too long for a column whole, and bytes as a list of numbers: a text
	// of 60 MB was 240 MB, which took seconds in which the statement heard no KILL. Nobody reads it.
	types.ErrLengthBeyondLimit.Message = "string '%.64s' is too large for column '%v'"
}

var verbs = regexp.MustCompile(`%[+#]?(?:\.\d+)?[vsqdTx]`)

// patternOf turns a printf template into a pattern whose groups are the arguments. A quoted argument (%q, '%s', `%s`, "%s")
// comes out without its quotes. What may follow is a hint of the library ("maybe you mean…") or the cause of a wrapped error.
func patternOf(template string) (prefix string, re *regexp.Regexp) {
	var b strings.Builder
	b.WriteString("(?s)^")
	rest := template
	for first := true; ; first = false {
		at := verbs.FindStringIndex(rest)
		if at == nil {
			if first {
				prefix = rest
			}
			b.WriteString(regexp.QuoteMeta(rest))
			break
		}
		if first {
			prefix = rest[:at[0]]
		}
		b.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		if strings.HasSuffix(rest[at[0]:at[1]], "q") {
			b.WriteString(`"(.*?)"`)
		} else {
			b.WriteString(`(.*?)`)
		}
		rest = rest[at[1]:]
	}
	b.WriteString(`(?:, maybe you mean .*|: .*)?$`)
	return prefix, regexp.MustCompile(b.String())
}
