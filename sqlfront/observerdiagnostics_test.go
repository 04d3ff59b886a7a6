package sqlfront_test

import "testing"

// TestObserversGetDiagnostics: GET DIAGNOSTICS is taken in the bodies of observers as in those of triggers;
// it was 1064.
func TestObserversGetDiagnostics(t *testing.T) {
	_, s := observed(t)
	run(t, s.conn(""), "create database own")
	root := s.conn("own")
	run(t, root, "create table a (id int primary key, v int)",
		"create table log (id int primary key, code int, said text)",
		"create observer o after insert or update on a for each row begin "+
			"declare n int; declare m text; "+
			"declare continue handler for 1062 begin get current diagnostics condition 1 "+
			"n = mysql_errno, m = message_text; "+
			"update log set code = n, said = m where id = new.id; end; "+
			"insert into log (id) values (new.id); end",
		"create observer w after insert on a for each row if new.v = 7 then begin "+
			"declare exit handler for sqlexception begin "+
			"get diagnostics @n = number; replace into log values (-new.id, @n, 'if'); end; "+
			"signal sqlstate '45000'; end; end if",
		"insert into a values (1, 7)")
	eventually(t, root, "select group_concat(id, code, said) from log where id < 0", "-11if")
	eventually(t, root, "select count(*) from log where id > 0", "1")
	run(t, root, "update a set v = 8")
	eventually(t, root, "select group_concat(id, ' ', code, ' ', said) from log where id > 0",
		"1 1062 Duplicate entry '1' for key 'log.PRIMARY'")
	wantError(t, root, "create observer x after insert on a for each row begin "+
		"get diagnostics @n = number; selekt 1; end", 1064)
	want(t, root, "select group_concat(parked) from moka.observer_backlog where parked > 0", "NULL")
}
