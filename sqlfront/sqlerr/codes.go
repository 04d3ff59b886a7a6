package sqlerr

import (
	"github.com/dolthub/vitess/go/mysql"
)

// MySQL error numbers. Only those that some part of Moka produces; the names are MySQL's without the ER_ prefix.
const (
	DBCreateExists         = 1007
	DBDropExists           = 1008
	TooManyConnections     = 1040
	OutOfSortMemory        = 1038
	OutOfMemory            = 1041
	CapacityExceeded       = 3170
	DatetimeOverflow       = 1441
	PacketOverflowed       = 1301
	VariableIsReadonly     = 1621
	WindowInvalidUse       = 3593
	RegexpIllegalArgument  = 3685
	RegexpOutOfBounds      = 3686
	RegexpRuleSyntax       = 3688
	RegexpStackOverflow    = 3698
	RegexpTimeOut          = 3699
	RegexpPatternTooBig    = 3700
	RegexpGroupName        = 3887
	BadHost                = 1042
	HandshakeFailed        = 1043
	DBAccessDenied         = 1044
	AccessDenied           = 1045
	NoDatabase             = 1046
	UnknownCommand         = 1047
	BadNull                = 1048
	BadDatabase            = 1049
	TableExists            = 1050
	BadTable               = 1051
	NonUniqueTable         = 1066
	NonUniqueColumn        = 1052
	ServerShutdown         = 1053
	BadField               = 1054
	WrongFieldWithGroup    = 1055
	WrongGroupField        = 1056
	WrongValueCount        = 1058
	DuplicateColumn        = 1060
	DuplicateKeyName       = 1061
	DuplicateKeyEntry      = 1062
	SyntaxError            = 1064
	WrongFieldSpec         = 1063
	InvalidDefault         = 1067
	ColumnTooLong          = 1074
	MultiplePrimaryKey     = 1068
	KeyColumnNotFound      = 1072
	WrongAutoKey           = 1075
	CantDropFieldOrKey     = 1091
	NoSuchThread           = 1094
	NotThreadOwner         = 1095
	Unknown                = 1105
	ReadOnlyVariable       = 1238
	TableNotLockedForWrite = 1099
	TableNotLocked         = 1100
	FieldSpecifiedTwice    = 1110
	WrongForeignKey        = 1239
	WrongIndexName         = 1280
	UnknownStorageEngine   = 1286
	KeyDoesNotExist        = 1176
	NotPartitioned         = 1505
	PartitionClause        = 1747
	UsingOtherEngine       = 1266
	ColumnCannotBeNotNull  = 1830
	ForeignKeyNoParent     = 1824
	ForeignKeyNoColumn     = 3734
	WrongLockName          = 3057
	VariableNotPersisted   = 3615
	InvalidJSONText        = 3141
	InvalidGroupFunction   = 1111
	WrongValueCountOnRow   = 1136
	TableAccessDenied      = 1142
	NoSuchTable            = 1146
	PrimaryCantHaveNull    = 1171
	LockOrActive           = 1192
	CantChangeTransaction  = 1568
	LockWaitTimeout        = 1205
	TooManyLocks           = 1206
	Deadlock               = 1213
	WrongObject            = 1347
	UnsupportedFeature     = 1235
	UnsupportedPrepared    = 1295
	IllegalVariableName    = 3061
	UnknownSystemVariable  = 1193
	WrongValueForVariable  = 1231
	OperandColumns         = 1241
	SubqueryOneRow         = 1242
	SpecificAccessDenied   = 1227
	LocalVariable          = 1228
	GlobalVariable         = 1229
	UnknownStmtHandler     = 1243
	UnknownTimeZone        = 1298
	InvalidTimestamp       = 1299
	NoSuchProcedure        = 1305
	ProcedureExists        = 1304
	ProcedureArguments     = 1318
	SavepointUnknown       = 1305
	QueryInterrupted       = 1317
	UpdateWithoutKey       = 1175
	DuplicatedValueInType  = 1291
	IllegalValueForType    = 1367
	InvalidJSONPath        = 3143
	DivisionByZero         = 1365
	WrongValueForField     = 1366
	InvalidCharacterString = 1300
	NoDefaultForField      = 1364
	DefaultNonPrior        = 3767
	DefaultAsValGenerated  = 3773
	ViewNoExplain          = 1345
	ViewInvalid            = 1356
	NonUpdatableTable      = 1288
	NonUpdatableColumn     = 1348
	ViewCheckFailed        = 1369
	NoDefaultForViewField  = 1423
	NonInsertableTable     = 1471
	ViewVariable           = 1351
	ViewRecursive          = 1462
	ViewWrongList          = 1353
	TriggerExists          = 1359
	NoReferencedTrigger    = 3011
	TriggerNotFound        = 1360
	TriggerRowReadOnly     = 1362
	NoSuchTriggerRow       = 1363
	TriggerTableInUse      = 1442
	TooManyParameters      = 1390
	DataTooLong            = 1406
	WrongValueForType      = 1411
	RowIsReferenced        = 1451
	NoReferencedRow        = 1452
	TableDefChanged        = 1412
	NoSuchUserGrant        = 1141
	CannotUser             = 1396
	AccountLocked          = 3118
	GISMaxPoints           = 3134
	AccessDeniedNoPassword = 1698
	SecureTransport        = 3159
	NoSecureTransport      = 3160
	MustChangePassword     = 1820
	MustChangeToLogIn      = 1862
	UserLimit              = 1226
	TooManyUserConnections = 1203
	ColumnAccessDenied     = 1143
	WrongArguments         = 1582
	OutOfRange             = 1264
	DataOutOfRange         = 1690
	DataTruncated          = 1265
	InvalidUseOfNull       = 1138
	TruncatedWrongValue    = 1292
	UnknownCollation       = 1273
	UnknownCharset         = 1115
	TooManyTables          = 1116
	EventIntervalRange     = 1542
	JSONOneOrAll           = 3154
	TooManyColumns         = 1117
	CollationMix           = 1267
	CollationMismatch      = 1253
	ForeignKeyAdd          = 1822
	ForeignKeyDropIndex    = 1553
	ForeignKeyDrop         = 1091
	ForeignKeyTableDrop    = 3730
	ForeignKeyTruncate     = 1701
	ForeignKeyDuplicate    = 1826
	ForeignKeyColumnDrop   = 1828
	ForeignKeyParentDrop   = 1829
	ForeignKeyColumnChange = 1832
	ForeignKeyParentChange = 1833
	ForeignKeyChild        = 1216 // NoReferencedRow, RowIsReferenced for who may not know of the other table
	ForeignKeyParent       = 1217
	ReadOnlyTransaction    = 1792
	ReadOnlyServer         = 1290
	ReadOnlySchema         = 3989
	TooBigRowSize          = 1118
	NotUpdatable           = 1288
	EventExists            = 1537
	EventNotFound          = 1539
	IdentifierTooLong      = 1059
	TooManyKeys            = 1069
	TooManyKeyParts        = 1070
	ForeignKeyIncompatible = 3780
	UnknownExplainFormat   = 1791
	TooFewFields           = 1261
	TooManyFields          = 1262
	NullToNotNull          = 1263
	CheckViolated          = 3819
	CheckDependency        = 3959
	GeneratedNonPrior      = 3107
	GeneratedDependency    = 3108
	CheckNotFound          = 3821
	CheckDuplicate         = 3822
	QueryTimeout           = 3024
	LockNowait             = 3572
	NoSystemTableAccess    = 3554
	GeneratedColumnValue   = 3105
	GeneratedColumnIgnored = 1906 // MariaDB's
	UnknownTableIn         = 1109 // ER_UNKNOWN_TABLE: of a clause
	WrongUsage             = 1221
	MultiUpdateKeyConflict = 1706
	ViewOfTemporary        = 1352
	TriggerOnTemporary     = 1361
	InvalidJSON            = 3140
	InvalidJSONType        = 3146
	JSONTooDeep            = 3157
	MissingJSONTableValue  = 3665
	WrongJSONTableValue    = 3666
	InvalidGeometry        = 3037
	JSONKey                = 3152
	TooBigPrecision        = 1426
	WrongColumnName        = 1166
	FunctionalPrimary      = 3756
	FunctionalVarying      = 3758
	TriggerInWrongSchema   = 1435
	StackOverrun           = 1436
	SelectsNested          = 1473
	ViewChangesSchema      = 1450
	NoFullText             = 1191
	BadFullTextColumn      = 1283
	UnsupportedOnGenerated = 3106
	NoDefault              = 1101
	WrongDatabaseName      = 1102
	NoGeometry             = 1416
	WrongSRID              = 3643
	UnknownSRID            = 3548
	BadSlaveParameterText  = 3142
	TransactionTooLarge    = 1197
	FetchNoData            = 1329
	CommandNotAllowed      = 1179
	RecursionLimit         = 3636
	FieldInOrderNotSelect  = 3065
	FunctionNotFound       = 1305
	MaxStatementParams     = 65535
	PacketTooLarge         = 1153
	NetReadInterrupted     = 1159
	LocalInfileOff         = 3948
	WrongExecuteArguments  = 1210
	MalformedPacket        = 1835
	NoOpenCursor           = 1421
	ErrorOnRead            = 1024
	ErrorOnWrite           = 1026
	RecordFileFull         = 1114
	TooManyPrepared        = 1461
	TooLongBody            = 1437
	EmptyQuery             = 1065
	WrongValue             = 1525
	TooBigScale            = 1425
	ScaleOverPrecision     = 1427
	TooBigDisplayWidth     = 1439
	SnapshotTooOld         = 9006 // not MySQL's, which has no such thing; TiDB's "GC life time is shorter than transaction duration"
	UsedByView             = 9021 // nor is this: an incremental view is made of it (catalog.UsedByView)
	ObserverStopped        = 9020 // not MySQL's either: what is waited for, nobody will do
)

// StateOutcomeUnknown is the SQLSTATE of a commit whose reply was lost ("transaction resolution unknown"). MySQL has no
// number for it, because its client is alone with one server; the standard and PostgreSQL have the state. The number is
// 1105, which no driver retries by itself: a retry of a transaction that did commit would run it twice.
const StateOutcomeUnknown = "08007"

// states holds the SQLSTATE for each number whose state is not HY000.
var states = map[int]string{
	OutOfSortMemory:        "HY001",
	TooManyConnections:     "08004",
	BadHost:                "08S01",
	HandshakeFailed:        "08S01",
	DBAccessDenied:         "42000",
	AccessDenied:           "28000",
	AccessDeniedNoPassword: "28000",
	NoDatabase:             "3D000",
	UnknownCommand:         "08S01",
	BadNull:                "23000",
	BadDatabase:            "42000",
	TableExists:            "42S01",
	BadTable:               "42S02",
	UnknownTableIn:         "42S02",
	NonUniqueColumn:        "23000",
	ServerShutdown:         "08S01",
	BadField:               "42S22",
	WrongFieldWithGroup:    "42000",
	WrongValueCount:        "21S01",
	WrongGroupField:        "42000",
	WrongFieldSpec:         "42000",
	WrongForeignKey:        "42000",
	WrongIndexName:         "42000",
	UnknownStorageEngine:   "42000",
	KeyDoesNotExist:        "42000",
	WrongLockName:          "42000",
	IdentifierTooLong:      "42000",
	TooManyKeys:            "42000",
	TooManyKeyParts:        "42000",
	DuplicateColumn:        "42S21",
	DuplicateKeyName:       "42000",
	DuplicateKeyEntry:      "23000",
	SyntaxError:            "42000",
	NonUniqueTable:         "42000",
	InvalidDefault:         "42000",
	MultiplePrimaryKey:     "42000",
	ColumnTooLong:          "42000",
	KeyColumnNotFound:      "42000",
	WrongAutoKey:           "42000",
	CantDropFieldOrKey:     "42000",
	FieldSpecifiedTwice:    "42000",
	UnknownCharset:         "42000",
	WrongValueCountOnRow:   "21S01",
	NoSuchUserGrant:        "42000",
	ColumnAccessDenied:     "42000",
	UserLimit:              "42000",
	TooManyUserConnections: "42000",
	1144:                   "42000",
	1147:                   "42000",
	1403:                   "42000",
	1410:                   "42000",
	TableAccessDenied:      "42000",
	SpecificAccessDenied:   "42000",
	NoSuchTable:            "42S02",
	PrimaryCantHaveNull:    "42000",
	CommandNotAllowed:      "25000",
	Deadlock:               "40001",
	WrongValueForVariable:  "42000",
	UnsupportedFeature:     "42000",
	OperandColumns:         "21000",
	SubqueryOneRow:         "21000",
	CollationMismatch:      "42000",
	OutOfRange:             "22003",
	DataTruncated:          "01000",
	TooFewFields:           "01000",
	TooManyFields:          "01000",
	InvalidUseOfNull:       "22004",
	TruncatedWrongValue:    "22007",
	NoSuchProcedure:        "42000",
	ProcedureExists:        "42000",
	QueryInterrupted:       "70100",
	ProcedureArguments:     "42000",
	FetchNoData:            "02000",
	DivisionByZero:         "22012",
	IllegalValueForType:    "22007",
	InvalidJSONPath:        "42000",
	DataTooLong:            "22001",
	RowIsReferenced:        "23000",
	NoReferencedRow:        "23000",
	WrongArguments:         "42000",
	DataOutOfRange:         "22003",
	NoGeometry:             "22003",
	JSONKey:                "42000",
	TooBigPrecision:        "42000",
	NoDefault:              "42000",
	InvalidGeometry:        "22023",
	UnknownSRID:            "SR001",
	ForeignKeyTruncate:     "42000",
	ReadOnlyTransaction:    "25006",
	CantChangeTransaction:  "25001",
	InvalidJSON:            "22032",
	InvalidJSONType:        "22032",
	JSONTooDeep:            "22032",
	JSONOneOrAll:           "42000",
	MissingJSONTableValue:  "22035",
	WrongJSONTableValue:    "2203F",
	PacketTooLarge:         "08S01",
	NetReadInterrupted:     "08S01",
	IllegalVariableName:    "42000",
	EmptyQuery:             "42000",
	TooManyPrepared:        "42000",
	TooLongBody:            "42000",
	TooBigScale:            "42000",
	ScaleOverPrecision:     "42000",
	TooBigDisplayWidth:     "42000",
	1169:                   "23000", // unique constraint
	ForeignKeyChild:        "23000",
	ForeignKeyParent:       "23000",
	1557:                   "23000",
	1586:                   "23000",
	1761:                   "23000",
	1762:                   "23000",
	1222:                   "21000", // UNION with different numbers of columns
	1140:                   "42000", // mix of group columns
	1102:                   "42000", // incorrect database name
	1103:                   "42000",
	WrongColumnName:        "42000",
	1170:                   "42000", // BLOB in a key without length
	1089:                   "HY000",
	1071:                   "42000", // key too long
	1644:                   "45000", // SIGNAL
	InvalidJSONText:        "22032",
}

// State is the SQLSTATE that MySQL sends with the number.
func State(code int) string {
	if s, ok := states[code]; ok {
		return s
	}
	if s, ok := routineStates[code]; ok {
		return s
	}
	return mysql.SSUnknownSQLState
}

// Error is an error as a client gets it.
type Error = mysql.SQLError

// New makes an error with the number, its state and a text.
func New(code int, format string, args ...any) *mysql.SQLError {
	return mysql.NewSQLError(code, State(code), format, args...)
}

// Code is the number that err would reach the client with if it left the server now, 0 for nil.
func Code(err error) int {
	if err == nil {
		return 0
	}
	return Final(err, Statement{}).Num
}
