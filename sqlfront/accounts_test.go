package sqlfront_test

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moka/sqlfront"
)

// script runs statements and compares what each answers.
type script []struct{ query, want string }

func (s script) run(t *testing.T, c runner) {
	t.Helper()
	for _, x := range s {
		if got := results(t, c, x.query); got != x.want {
			t.Errorf("%s:\n got %s\nwant %s", x.query, got, x.want)
		}
	}
}

// wantLogin tries a login; user is "name" or "name:password".
func wantLogin(t *testing.T, s *server, user, want string) {
	t.Helper()
	got := ""
	pool := s.open(user, "", "")
	if err := pool.Ping(); err != nil {
		got = number(err)
	}
	_ = pool.Close()
	if got != want {
		t.Errorf("login of %s: %q, want %q", user, got, want)
	}
}

func TestAccounts(t *testing.T) {
	d := newDatabase(t)
	s := d.serve()
	root := s.conn("")
	script{
		{"create user a identified by 'x'", ""},
		{"create user b@localhost identified with mysql_native_password by 'y' account lock comment 'it''s b'", ""},
		{"create user a, c", "error 1396"}, // all or none
		{"create user if not exists a, c", ""},
		{"show warnings", "Note 3163 Authorization ID 'a'@'%' already exists."},
		{"drop user nobody", "error 1396"},
		{"drop user if exists nobody, c", ""},
		{"show warnings", "Note 3162 Authorization ID 'nobody'@'%' does not exist."},
		{"alter user if exists nobody account lock", ""},
		{"alter user nobody account lock", "error 1396"},
		{"create user h identified with mysql_native_password as 'nonsense'", "error 1372"},
		{"create user h identified with nosuch by 'x'", "error 1524"},
		{"show create user b@localhost", "CREATE USER `b`@`localhost` IDENTIFIED WITH 'mysql_native_password' AS '*7446F64EFCFB1294A6DE20CAE7E49C2377A9AA25'" +
			" REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT LOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT ATTRIBUTE '{\"comment\":\"it''s b\"}'"},
		{"rename user b@localhost to b2@localhost, nobody to x", "error 1396"},
		{"rename user b@localhost to b2@localhost", ""},
		{"alter user b2@localhost account unlock attribute '{\"team\": 7, \"comment\": null}'", ""},
		{"alter user b2@localhost attribute 'nonsense'", "error 3141"},
		{"select user, host, attribute from information_schema.user_attributes where user = 'b2'", `b2 localhost {"team":7}`},
	}.run(t, root)
	wantLogin(t, s, "b2:y", "")
	wantLogin(t, s, "b2:z", "error 1045")
	wantLogin(t, s, "b2", "error 1045")
	wantLogin(t, s, "nobody:x", "error 1045")
	run(t, root, "alter user b2@localhost account lock")
	wantLogin(t, s, "b2:y", "error 3118")
	wantLogin(t, s, "b2:wrong", "error 1045") // who does not know the password is not told
	run(t, root, "alter user b2@localhost require ssl account unlock")
	wantLogin(t, s, "b2:y", "error 1045")
	run(t, root, "alter user b2@localhost require none with max_user_connections 1")
	one := s.open("b2:y", "", "")
	held, err := one.Conn(context.Background())
	for deadline := time.Now().Add(30 * time.Second); errorNumber(err) == 1226 && time.Now().Before(deadline); {
		held, err = one.Conn(context.Background()) // the server has not read yet that an earlier client has gone
	}
	if err != nil {
		t.Fatal(err)
	}
	wantLogin(t, s, "b2:y", "error 1226")
	// One's own password, and nobody else's.
	script{
		{"set password = 'own'", ""},
		{"alter user user() identified by 'own2'", ""},
		// the method is the administrator's to choose, and no hash is of a password that the policy has seen
		{"alter user user() identified with mysql_native_password by 'own2'", "error 1227"},
		{"alter user user() identified with caching_sha2_password as ''", "error 1227"},
		{"alter user user() identified with mysql_native_password as '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'", "error 1227"},
		{"set password for a = 'stolen'", "error 1227"},
		{"alter user current_user() account lock", "error 1227"},
		{"create user z", "error 1227"},
		{"drop user a", "error 1227"},
		{"rename user a to z", "error 1227"},
		{"show create user a", "error 1044"},
		{"show create user root@localhost", "error 1044"},
	}.run(t, held)
	_ = held.Close()
	_ = one.Close()
	run(t, root, "alter user b2@localhost with max_user_connections 0")
	wantLogin(t, s, "b2:own2", "")

	// Who may manage accounts has not thereby all that they have.
	run(t, root, "grant create user, select on *.* to a with grant option")
	script{
		{"alter user root@localhost identified by ''", "error 1227"},
		{"drop user root@localhost", "error 1227"},
		{"grant all on *.* to a", ""},
		{"show grants", "GRANT SELECT, CREATE USER ON *.* TO `a`@`%` WITH GRANT OPTION"},
		{"grant insert on *.* to a", "error 1045"},
		{"grant super on *.* to a", "error 1045"},
		{"create user e1; drop user e1", "error 1064"},
	}.run(t, s.open("a:x", "", ""))

	// Other servers, and this one when it comes back.
	run(t, root, "create user old@'10.%' identified by '1'", "create user old@'%' identified by '2'", "create user sha identified with caching_sha2_password by 's'",
		"alter user a password expire interval 90 day", "create user lk account lock")
	two := d.serve()
	script{
		{"select user, host, account_locked, password_expired, password_lifetime, max_user_connections, user_attributes from mysql.user where user in ('a', 'b2', 'lk') order by user",
			"a % N N 90 0 NULL;b2 localhost N N NULL 0 {\"metadata\": {\"team\": 7}};lk % Y N NULL 0 NULL"},
	}.run(t, two.conn(""))
	wantLogin(t, two, "old:2", "")
	wantLogin(t, two, "lk", "error 3118")
	run(t, root, "drop user lk", "create user late identified by 'l'")
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := two.open("late:l", "", "").Conn(context.Background())
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	wantLogin(t, two, "lk", "error 1045")
}

// TestExpiredPassword: a client that can show it may change its password, and nothing else.
func TestExpiredPassword(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create user e identified by 'x' password expire", "create database d")
	wantLogin(t, s, "e:x", "error 1862") // the driver cannot
	client, err := exec.LookPath("mariadb")
	if err != nil {
		t.Fatal("the MariaDB command-line client is needed: install the package mariadb-client (make test does)")
	}
	host, port, _ := net.SplitHostPort(s.Addr().String())
	mariadb := func(password, script string) string {
		cmd := exec.Command(client, "--no-defaults", "-h", host, "-P", port, "-u", "e", "-p"+password, "--protocol=tcp", "--skip-ssl", "-N", "-f", "--connect-expired-password")
		cmd.Stdin = strings.NewReader(script)
		out, _ := cmd.CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	const refusal = ": You must reset your password using ALTER USER statement before executing this statement."
	got := mariadb("x", "select 1;\nset @a = 1;\nprepare p from 'select 1';\nalter user user() identified by 'y';\nselect 2;")
	for _, line := range []string{"1", "2", "3"} {
		if !strings.Contains(got, "ERROR 1820 (HY000) at line "+line+refusal) {
			t.Errorf("line %s was not refused", line)
		}
	}
	if strings.Count(got, "ERROR") != 3 || !strings.HasSuffix(got, "\n2") {
		t.Errorf("%s", got)
	}
	wantLogin(t, s, "e:y", "")
}

// TestPasswordPolicy is S15: passwords are salted and slow to try unless one says otherwise, and
// validate_password does what it shows.
func TestPasswordPolicy(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	t.Cleanup(func() {
		run(t, root, "set global validate_password.policy = default", "set global validate_password.length = default")
	})
	script{
		{"create user a identified by 'a', n identified with mysql_native_password by 'a'", ""},
		{"select user, plugin from mysql.user where user in ('a', 'n', 'root') order by user", "a caching_sha2_password;n mysql_native_password;root mysql_native_password"},
		{"set global validate_password.policy = STRONG", "error 1231"}, // there is no dictionary
		{"set global validate_password.policy = MEDIUM", ""},
		{"select @@validate_password.policy, @@validate_password.length", "MEDIUM 8"},
		{"create user b identified by 'a'", "error 1819"},
		{"create user b identified by 'abcdefgh1!'", "error 1819"},
		{"create user b identified by 'Abcdefgh!'", "error 1819"},
		{"create user b identified by 'Abcdefgh1'", "error 1819"},
		{"create user b identified by 'Abc1!'", "error 1819"},
		{"create user b", "error 1819"},
		{"create user b identified by 'Abcdefg1!'", ""},
		{"alter user b identified by ''", "error 1819"},
		{"set password for b = 'b'", "error 1819"},
		{"create user `Abcdefg1!` identified by '!1gfedcbA'", "error 1819"},
		{"set global validate_password.policy = 0", ""}, // LOW, as in MySQL
		{"create user c identified by 'abcdefg'", "error 1819"},
		{"create user c identified by 'abcdefgh'", ""},
		{"set global validate_password.policy = OFF", ""},
		{"alter user c identified by 'c', root@localhost identified by 'r'", ""},
		{"select plugin from mysql.user where user = 'root'", "caching_sha2_password"},
	}.run(t, root)
	wantLogin(t, s, "b:Abcdefg1!", "")
	wantLogin(t, s, "c:c", "")
	wantLogin(t, s, "n:a", "")
	wantLogin(t, s, "root:r", "")
	wantLogin(t, s, "root", "error 1045")
}

// TestLongPasswords: what a hash of caching_sha2_password takes grows by the square of the password, and was
// taken while nobody else could do anything.
func TestLongPasswords(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s") // where they are sent as they are: under a key they are shorter
	s := newDatabase(t).serve(func(o *sqlfront.Options) { o.Socket = socket })
	root := s.conn("")
	long, most := strings.Repeat("y", 257), strings.Repeat("z", 256)
	run(t, root, "create user u identified by 'x'", "create user other identified by 'x'",
		"create user n identified with mysql_native_password by '"+long+"'")
	u := s.open("u:x", "", "")
	script{
		{"alter user user() identified by '" + long + "'", "error 1396"},
		{"set password = '" + long + "'", "error 1396"},
		{"alter user user() identified by 'a', user() identified by 'b'", "error 1396"},
		{"alter user u identified by 'a', user() identified by 'b'", "error 1396"},
	}.run(t, u)
	script{
		{"create user v identified by '" + long + "'", "error 1396"},
		{"create user v identified by 'a', v identified by 'b'", "error 1396"},
		{"create user if not exists v, v", "error 1396"},
		{"alter user other identified by 'b', u identified by '" + long + "'", "error 1396"},
		{"select count(*) from mysql.user where user = 'v'", "0"},
		{"create user if not exists other identified by random password", ""},
	}.run(t, root)
	run(t, u, "set password = '"+most+"'")
	for _, c := range []struct{ user, want string }{
		{"u:" + most, ""}, {"u:" + long, "error 1045"}, {"nobody:" + long, "error 1045"}, {"other:x", ""},
		{"n:" + long, ""},
	} {
		got := ""
		if _, err := held(t, c.user+"@unix("+socket+")/"); err != nil {
			got = number(err)
		}
		if got != c.want {
			t.Errorf("login of %s: %q, want %q", c.user, got, c.want)
		}
	}
}

// TestHashingHoldsNobodyUp: others go on while passwords are hashed, and KILL is heard in between.
func TestHashingHoldsNobodyUp(t *testing.T) {
	s := newDatabase(t).serve()
	root, other := s.conn(""), s.conn("")
	text := "create user many0 identified by 'x'"
	for i := 1; i < 5000; i++ {
		text += fmt.Sprintf(", many%d identified by 'x'", i)
	}
	var id uint32
	if err := other.QueryRowContext(context.Background(), "select connection_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	made := make(chan error, 1)
	go func() {
		_, err := other.ExecContext(context.Background(), text)
		made <- err
	}()
	eventually(t, root, fmt.Sprintf("select count(*) from information_schema.processlist "+
		"where id = %d and command = 'Query'", id), "1")
	for range 100 { // one of them would have waited until all have been made
		want(t, root, "select count(*) from mysql.user where user like 'many%'", "0")
	}
	run(t, root, fmt.Sprintf("kill query %d", id))
	wantErr(t, "the killed statement", <-made, 1317, "70100")
	want(t, root, "select count(*) from mysql.user where user like 'many%'", "0")
}

// TestStatusNamesAreOnes: monitors write names with '_' for '.', and refuse doubles.
func TestStatusNamesAreOnes(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	script{
		{"select variable_value from performance_schema.global_status where variable_name in ('Moka_login_failures', 'Moka_node_insecure')", "0;0"},
	}.run(t, root)
	rows, err := root.QueryContext(context.Background(), "show global status")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen := map[string]bool{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			t.Fatal(err)
		}
		plain := strings.ToLower(strings.ReplaceAll(name, ".", "_"))
		if seen[plain] {
			t.Errorf("%s is there twice", name)
		}
		seen[plain] = true
	}
	if err := rows.Err(); err != nil || len(seen) < 100 {
		t.Errorf("%d names, %v", len(seen), err)
	}
}
