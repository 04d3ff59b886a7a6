package mysqlproto

// Capabilities of a client and a server.
const (
	ClientLongPassword     = 1 << 0
	ClientFoundRows        = 1 << 1
	ClientLongFlag         = 1 << 2
	ClientConnectWithDB    = 1 << 3
	ClientCompress         = 1 << 5
	ClientLocalFiles       = 1 << 7
	ClientProtocol41       = 1 << 9
	ClientSSL              = 1 << 11
	ClientTransactions     = 1 << 13
	ClientSecureConnection = 1 << 15
	ClientMultiStatements  = 1 << 16
	ClientMultiResults     = 1 << 17
	ClientPSMultiResults   = 1 << 18
	ClientPluginAuth       = 1 << 19
	ClientConnectAttrs     = 1 << 20
	ClientPluginAuthLenenc = 1 << 21
	// ClientExpiredPasswords is of clients that show the user an expired password instead of failing.
	ClientExpiredPasswords = 1 << 22
	ClientSessionTrack     = 1 << 23
	ClientDeprecateEOF     = 1 << 24
	ClientZstd             = 1 << 26
	ClientQueryAttributes  = 1 << 27
)

// Flags of the server's status.
const (
	StatusInTransaction       = 1 << 0
	StatusAutocommit          = 1 << 1
	StatusMoreResults         = 1 << 3
	StatusCursorExists        = 1 << 6
	StatusLastRowSent         = 1 << 7
	StatusOutParams           = 1 << 12
	StatusSessionStateChanged = 1 << 14
)

// Commands.
const (
	ComQuit            = 0x01
	ComInitDB          = 0x02
	ComQuery           = 0x03
	ComFieldList       = 0x04
	ComRefresh         = 0x07
	ComShutdown        = 0x08
	ComStatistics      = 0x09
	ComProcessInfo     = 0x0a
	ComProcessKill     = 0x0c
	ComDebug           = 0x0d
	ComPing            = 0x0e
	ComChangeUser      = 0x11
	ComBinlogDump      = 0x12
	ComRegisterReplica = 0x15
	ComStmtPrepare     = 0x16
	ComStmtExecute     = 0x17
	ComStmtLongData    = 0x18
	ComStmtClose       = 0x19
	ComStmtReset       = 0x1a
	ComSetOption       = 0x1b
	ComStmtFetch       = 0x1c
	ComBinlogDumpGTID  = 0x1e
	ComResetConnection = 0x1f
)

// First bytes of the server's packets.
const (
	HeaderOK          = 0x00
	HeaderMoreData    = 0x01
	HeaderLocalInfile = 0xfb
	HeaderNull        = 0xfb
	HeaderEOF         = 0xfe
	HeaderAuthSwitch  = 0xfe
	HeaderErr         = 0xff
)

// Type is the type of a column or a parameter.
type Type byte

// Types.
const (
	TypeDecimal    Type = 0
	TypeTiny       Type = 1
	TypeShort      Type = 2
	TypeLong       Type = 3
	TypeFloat      Type = 4
	TypeDouble     Type = 5
	TypeNull       Type = 6
	TypeTimestamp  Type = 7
	TypeLongLong   Type = 8
	TypeInt24      Type = 9
	TypeDate       Type = 10
	TypeTime       Type = 11
	TypeDatetime   Type = 12
	TypeYear       Type = 13
	TypeVarchar    Type = 15
	TypeBit        Type = 16
	TypeTimestamp2 Type = 17
	TypeDatetime2  Type = 18
	TypeTime2      Type = 19
	TypeJSON       Type = 245
	TypeNewDecimal Type = 246
	TypeEnum       Type = 247
	TypeSet        Type = 248
	TypeTinyBlob   Type = 249
	TypeMediumBlob Type = 250
	TypeLongBlob   Type = 251
	TypeBlob       Type = 252
	TypeVarString  Type = 253
	TypeString     Type = 254
	TypeGeometry   Type = 255
)

// MaxPayload is the length of a packet that says: the message goes on in the next one.
const MaxPayload = 1<<24 - 1

// Plugins of authentication.
const (
	NativePassword = "mysql_native_password"
	CachingSHA2    = "caching_sha2_password"
)
