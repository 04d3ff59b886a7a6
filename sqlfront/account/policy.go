package account

import (
	"strings"
	"unicode"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// What a password has to be like: the variables of MySQL's component validate_password. That is installed or it is not; here it is
// always there, and validate_password.policy says OFF until somebody wants it. Only passwords in clear text can be looked at,
// as in MySQL: a hash passes.
const (
	policyVariable    = "validate_password.policy"
	checkNameVariable = "validate_password.check_user_name"

	policyLow    = "LOW"    // length
	policyMedium = "MEDIUM" // and digits, letters of both cases, others
	policyStrong = "STRONG" // and no words of a dictionary: there is none
	policyOff    = "OFF"
)

const passwordPolicy = 1819

// PolicyVariables are the variables of the policy that the library does not have. Those of the numbers it has.
func PolicyVariables() []sql.SystemVariable {
	global := sql.GetMysqlScope(sql.SystemVariableScope_Global)
	return []sql.SystemVariable{
		&sql.MysqlSystemVariable{
			Name: policyVariable, Scope: global, Dynamic: true, Type: types.NewSystemEnumType(policyVariable, policyLow, policyMedium, policyStrong, policyOff), Default: policyOff,
			NotifyChanged: func(_ *sql.Context, _ sql.SystemVariableScope, v sql.SystemVarValue) error {
				if v.Val == policyStrong {
					return sqlerr.New(sqlerr.WrongValueForVariable, "Variable '%s' can't be set to the value of 'STRONG': there is no dictionary of words; use MEDIUM", policyVariable)
				}
				return nil
			},
		},
		&sql.MysqlSystemVariable{Name: checkNameVariable, Scope: global, Dynamic: true, Type: types.NewSystemBoolType(checkNameVariable), Default: int8(1)},
	}
}

func number(variable string) int {
	_, v, _ := sql.SystemVariables.GetGlobal(variable)
	n, _ := types.CoalesceInt(v)
	return n
}

// checkPassword refuses a password that the policy forbids.
func checkPassword(password string, n Name) error {
	_, v, _ := sql.SystemVariables.GetGlobal(policyVariable)
	policy, _ := v.(string)
	if policy != policyLow && policy != policyMedium {
		return nil
	}
	refused := sqlerr.New(passwordPolicy, "Your password does not satisfy the current policy requirements")
	digits, mixed, others := number("validate_password.number_count"), number("validate_password.mixed_case_count"), number("validate_password.special_char_count")
	if len([]rune(password)) < max(number("validate_password.length"), digits+2*mixed+others) {
		return refused
	}
	if _, on, _ := sql.SystemVariables.GetGlobal(checkNameVariable); on == int8(1) && n.User != "" {
		if strings.EqualFold(password, n.User) || strings.EqualFold(reversed(password), n.User) {
			return refused
		}
	}
	if policy == policyLow {
		return nil
	}
	upper, lower := mixed, mixed
	for _, c := range password {
		switch {
		case unicode.IsDigit(c):
			digits--
		case unicode.IsUpper(c):
			upper--
		case unicode.IsLower(c):
			lower--
		default:
			others--
		}
	}
	if digits > 0 || upper > 0 || lower > 0 || others > 0 {
		return refused
	}
	return nil
}

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}
