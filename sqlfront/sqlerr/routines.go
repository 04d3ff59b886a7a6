package sqlerr

// MySQL error numbers of stored routines.
const (
	RoutineInRoutine       = 1303
	NoSuchLabel            = 1308
	DuplicateLabel         = 1309
	BadReturn              = 1313
	BadRoutineStatement    = 1314
	UndefinedCondition     = 1319
	FunctionHasNoReturn    = 1320
	FunctionNoReturn       = 1321
	UndefinedCursor        = 1324
	CursorIsOpen           = 1325
	CursorNotOpen          = 1326
	UndeclaredVariable     = 1327
	FetchCount             = 1328
	RoutineDuplicateParam  = 1330
	DuplicateVariable      = 1331
	DuplicateCondition     = 1332
	DuplicateCursor        = 1333
	NotInFunction          = 1336
	DeclareOrder           = 1337
	CursorAfterHandler     = 1338
	CaseNotFound           = 1339
	RoutineAccessDenied    = 1370
	BadSQLState            = 1407
	DuplicateHandler       = 1413
	NotAVariable           = 1414
	FunctionResultSet      = 1415
	CommitNotAllowed       = 1422
	RoutineNoRecursion     = 1424
	AutocommitInFunction   = 1445
	NoSuchDefiner          = 1449
	RoutineRecursionLimit  = 1456
	TooManyRows            = 1172
	ColumnCountInto        = 1222
	DuplicateSignalItem    = 1641
	SignalWarning          = 1642
	SignalNotFound         = 1643
	SignalException        = 1644
	ResignalWithoutHandler = 1645
	SignalNeedsState       = 1646
	ConditionItemTruncated = 1647
	ConditionItemTooLong   = 1648
	BadConditionNumber     = 1758
	StackedWithoutHandler  = 1887
	LimitType              = 1691
	CheckFunction          = 3814
	CheckVariable          = 3816
	GeneratedFunction      = 3763
	GeneratedVariable      = 3765
	DefaultFunction        = 3770
	DefaultVariable        = 3772
)

// routineStates goes on with states.
var routineStates = map[int]string{
	RoutineInRoutine:       "2F003",
	NoSuchLabel:            "42000",
	DuplicateLabel:         "42000",
	BadReturn:              "42000",
	BadRoutineStatement:    "0A000",
	UndefinedCondition:     "42000",
	FunctionHasNoReturn:    "42000",
	FunctionNoReturn:       "2F005",
	UndefinedCursor:        "42000",
	CursorIsOpen:           "24000",
	CursorNotOpen:          "24000",
	UndeclaredVariable:     "42000",
	RoutineDuplicateParam:  "42000",
	DuplicateVariable:      "42000",
	DuplicateCondition:     "42000",
	DuplicateCursor:        "42000",
	NotInFunction:          "0A000",
	DeclareOrder:           "42000",
	CursorAfterHandler:     "42000",
	CaseNotFound:           "20000",
	RoutineAccessDenied:    "42000",
	BadSQLState:            "42000",
	DuplicateHandler:       "42000",
	NotAVariable:           "42000",
	FunctionResultSet:      "0A000",
	TooManyRows:            "42000",
	DuplicateSignalItem:    "42000",
	SignalWarning:          "01000",
	SignalNotFound:         "02000",
	ResignalWithoutHandler: "0K000",
	BadConditionNumber:     "35000",
	StackedWithoutHandler:  "0Z002",
}
