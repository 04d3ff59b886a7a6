package account

import (
	"crypto/subtle"

	"github.com/dolthub/vitess/go/mysql"
)

// NativeHash is SHA1(SHA1(password)) of what is stored of a mysql_native_password.
func NativeHash(stored string) ([]byte, error) { return mysql.DecodeMysqlNativePasswordHex(stored) }

// decoyIterations are those of an account that was given its password here.
const decoyIterations = mysql.DefaultCachingSha2PasswordHashIterations

// decoySalt is as long as the salts of accounts.
var decoySalt = make([]byte, 20)

// VerifySHA2 compares a password with what is stored of a caching_sha2_password. It takes as long if
// nothing is stored. One that is longer than any may be is wrong at once, whosever it is said to be.
func VerifySHA2(stored, password string) bool {
	if len(password) > maxPassword {
		return false
	}
	if stored == "" {
		_, _ = mysql.SerializeCachingSha2PasswordAuthString(password, decoySalt, decoyIterations)
		return password == ""
	}
	kind, iterations, salt, _, err := mysql.DeserializeCachingSha2PasswordAuthString([]byte(stored))
	if err != nil || kind != "SHA256" {
		return false
	}
	now, err := mysql.SerializeCachingSha2PasswordAuthString(password, salt, iterations)
	return err == nil && subtle.ConstantTimeCompare(now, []byte(stored)) == 1
}
