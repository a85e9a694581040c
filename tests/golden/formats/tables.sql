BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE keys (
	name VARCHAR(64) NOT NULL, 
	value BLOB NOT NULL, 
	CONSTRAINT pk_keys PRIMARY KEY (name)
);
INSERT INTO "keys" VALUES('secret seat links',X'F4D74996290CCB9EB6E7080AF361A54FD1510386FF1B6DD473571FE9C208447E');
CREATE TABLE lines (
	room VARCHAR(32) NOT NULL, 
	n INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_lines PRIMARY KEY (room, n), 
	CONSTRAINT fk_lines_room FOREIGN KEY(room) REFERENCES rooms (code) ON DELETE CASCADE
);
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',0,'{"piste": 1, "game": "prime-duel", "rules": 1, "options": {"first": "toss", "turns": "0", "top": "10", "copies": "4", "target": "50"}, "seats": ["Ann", "Ben"], "commitment": "9d5ec9ed13762f30d88deb5dfcf6ae4e61838a360a1883d7050340bbd8f04d24", "salt": "a9211bef0720d88ecdfc8acd6df1ff6e381fc9ad96022da730ac7fb899887a17", "seed": "a7f308690bec4dbee92ac7fcf56de91dbce7a91456382d98bf85b21f060fb8a4", "counts": true, "notes": {"seat 1": "you", "seat 2": "you"}, "check": "4f11c319"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',1,'{"n": 1, "chance": "toss", "outcome": "1", "check": "e6d15d47"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',2,'{"n": 2, "chance": "draw", "outcome": "10", "check": "2fc895f8"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',3,'{"n": 3, "seat": "1", "decide": "keep", "check": "c88261ad"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',4,'{"n": 4, "chance": "draw", "outcome": "2", "check": "3c50ede9"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',5,'{"n": 5, "seat": "2", "decide": "keep", "check": "d0792a31"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',6,'{"n": 6, "chance": "draw", "outcome": "8", "check": "c741ce66"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',7,'{"n": 7, "seat": "2", "decide": "keep", "check": "d1b1b235"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',8,'{"n": 8, "chance": "draw", "outcome": "4", "check": "708ea97b"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',9,'{"n": 9, "seat": "1", "decide": "keep", "check": "bec35a7a"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',10,'{"n": 10, "chance": "draw", "outcome": "10", "check": "84da4526"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',11,'{"n": 11, "seat": "2", "decide": "keep", "check": "986b710b"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',12,'{"n": 12, "chance": "draw", "outcome": "3", "check": "1c141c76"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',13,'{"n": 13, "seat": "1", "decide": "keep", "check": "cf823820"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',14,'{"n": 14, "chance": "draw", "outcome": "5", "check": "b14a1bfd"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',15,'{"n": 15, "seat": "1", "decide": "keep", "check": "1397c2ab"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',16,'{"n": 16, "chance": "draw", "outcome": "9", "check": "2ab634d8"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',17,'{"n": 17, "seat": "2", "decide": "keep", "check": "1c61bff7"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',18,'{"n": 18, "chance": "draw", "outcome": "2", "check": "a81884b7"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',19,'{"n": 19, "seat": "2", "decide": "keep", "check": "63ba726b"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',20,'{"n": 20, "chance": "draw", "outcome": "5", "check": "d34ad942"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',21,'{"n": 21, "seat": "2", "decide": "keep", "check": "14109b46"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',22,'{"n": 22, "chance": "draw", "outcome": "4", "check": "24378c8c"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',23,'{"n": 23, "seat": "1", "decide": "keep", "check": "511679a9"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',24,'{"n": 24, "chance": "draw", "outcome": "7", "check": "c48733ae"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',25,'{"n": 25, "seat": "2", "decide": "keep", "check": "49ae0cfd"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',26,'{"n": 26, "chance": "draw", "outcome": "6", "check": "7b8dbb7b"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',27,'{"n": 27, "seat": "2", "decide": "keep", "check": "6f1be6bc"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',28,'{"n": 28, "chance": "draw", "outcome": "7", "check": "c7d78f12"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',29,'{"n": 29, "seat": "1", "decide": "keep", "check": "4794c8a1"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',30,'{"n": 30, "chance": "draw", "outcome": "6", "check": "70eb0298"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',31,'{"n": 31, "chance": "redraw", "outcome": "9", "check": "4e5b7b44"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',32,'{"n": 32, "chance": "draw", "outcome": "4", "check": "2446fc6e"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',33,'{"n": 33, "seat": "1", "decide": "keep", "check": "5f866e69"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',34,'{"n": 34, "chance": "draw", "outcome": "8", "check": "8ce019fe"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',35,'{"n": 35, "seat": "1", "decide": "keep", "check": "3fe6b673"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',36,'{"n": 36, "chance": "draw", "outcome": "6", "check": "d943ff0c"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',37,'{"n": 37, "chance": "redraw", "outcome": "2", "check": "28640e46"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',38,'{"n": 38, "chance": "draw", "outcome": "10", "check": "b1cce958"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',39,'{"n": 39, "chance": "redraw", "outcome": "1", "check": "b0b613f6"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',40,'{"n": 40, "chance": "draw", "outcome": "4", "check": "9cece957"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',41,'{"n": 41, "chance": "redraw", "outcome": "8", "check": "448f1c58"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',42,'{"n": 42, "chance": "draw", "outcome": "7", "check": "808e108a"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',43,'{"n": 43, "chance": "redraw", "outcome": "3", "check": "210f4715"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',44,'{"n": 44, "chance": "draw", "outcome": "5", "check": "e0476893"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',45,'{"n": 45, "chance": "redraw", "outcome": "7", "check": "e8e40725"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',46,'{"n": 46, "chance": "draw", "outcome": "5", "check": "90c33bf2"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',47,'{"n": 47, "chance": "redraw", "outcome": "6", "check": "9c02125d"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',48,'{"n": 48, "chance": "draw", "outcome": "1", "check": "1aeefc0d"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',49,'{"n": 49, "seat": "2", "decide": "keep", "check": "099a95d0"}');
INSERT INTO "lines" VALUES('qhb3ha8vjhtqdAbt',50,'{"n": 50, "ending": "target reached", "winner": "2", "payoffs": [-1, 1], "checksum": "272bc7881a86f9429f60f0e912ad2b47", "check": "d995dac5"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',0,'{"piste": 1, "game": "positive-negative", "rules": 1, "options": {"top": "10"}, "seats": ["Ann", "Ben"], "commitment": "706b624bbe30e1dcbde87f9f3b5a020d6ed585cbb75cf8b85592be922a26d8a4", "salt": "587379d0ef8ea655867a11b6e57ddec62c82636fbcf2b036644184940e29d7ff", "seed": "2f2a1bb24b9ba79a18d522b79e241b221720c1d65606ebb581f1012b31cad08d", "counts": true, "notes": {"seat 1": "you", "seat 2": "you"}, "check": "e23b4449"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',1,'{"n": 1, "chance": "draw", "outcome": "2", "check": "c99653f8"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',2,'{"n": 2, "seat": "1", "decide": "keep", "check": "d46e09d6"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',3,'{"n": 3, "chance": "draw", "outcome": "-4", "check": "206c3f91"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',4,'{"n": 4, "seat": "2", "decide": "keep", "check": "0a5d4faf"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',5,'{"n": 5, "chance": "draw", "outcome": "7", "check": "6cacc0f0"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',6,'{"n": 6, "seat": "1", "decide": "keep", "check": "a15bf0ed"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',7,'{"n": 7, "chance": "draw", "outcome": "4", "check": "0c7f24bb"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',8,'{"n": 8, "seat": "2", "decide": "keep", "check": "e10a34b3"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',9,'{"n": 9, "chance": "draw", "outcome": "-5", "check": "519c64fc"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',10,'{"n": 10, "seat": "1", "decide": "keep", "check": "35d24d7e"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',11,'{"n": 11, "chance": "draw", "outcome": "-3", "check": "29c51094"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',12,'{"n": 12, "seat": "2", "decide": "keep", "check": "d8928391"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',13,'{"n": 13, "chance": "draw", "outcome": "10", "check": "36cd0ef5"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',14,'{"n": 14, "seat": "1", "decide": "keep", "check": "d061d154"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',15,'{"n": 15, "chance": "draw", "outcome": "-7", "check": "b850de67"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',16,'{"n": 16, "seat": "2", "decide": "keep", "check": "84874d43"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',17,'{"n": 17, "chance": "draw", "outcome": "-6", "check": "46d03a87"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',18,'{"n": 18, "seat": "1", "decide": "keep", "check": "27009d68"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',19,'{"n": 19, "chance": "draw", "outcome": "-8", "check": "d89892bb"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',20,'{"n": 20, "seat": "2", "decide": "keep", "check": "4d7cf5ac"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',21,'{"n": 21, "chance": "draw", "outcome": "-9", "check": "d6ff17da"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',22,'{"n": 22, "seat": "1", "decide": "keep", "check": "64a261bd"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',23,'{"n": 23, "chance": "draw", "outcome": "-10", "check": "143a855b"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',24,'{"n": 24, "seat": "2", "decide": "keep", "check": "6bfa56cc"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',25,'{"n": 25, "chance": "draw", "outcome": "6", "check": "0615acfa"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',26,'{"n": 26, "seat": "1", "decide": "keep", "check": "f6b9c292"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',27,'{"n": 27, "chance": "draw", "outcome": "-1", "check": "9bf4aae4"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',28,'{"n": 28, "seat": "2", "decide": "keep", "check": "8cff974c"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',29,'{"n": 29, "chance": "draw", "outcome": "3", "check": "83f588d4"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',30,'{"n": 30, "seat": "1", "decide": "keep", "check": "7d40795e"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',31,'{"n": 31, "chance": "draw", "outcome": "1", "check": "6108c01f"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',32,'{"n": 32, "seat": "2", "decide": "keep", "check": "2ac93465"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',33,'{"n": 33, "chance": "draw", "outcome": "5", "check": "1c5a6e80"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',34,'{"n": 34, "seat": "1", "decide": "keep", "check": "0cdae494"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',35,'{"n": 35, "chance": "draw", "outcome": "-2", "check": "0010371e"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',36,'{"n": 36, "seat": "2", "decide": "keep", "check": "b8f7dad9"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',37,'{"n": 37, "chance": "draw", "outcome": "9", "check": "55cf2de6"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',38,'{"n": 38, "seat": "1", "decide": "keep", "check": "e6bf4209"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',39,'{"n": 39, "chance": "draw", "outcome": "8", "check": "83894f3d"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',40,'{"n": 40, "seat": "2", "decide": "keep", "check": "1f934f5e"}');
INSERT INTO "lines" VALUES('duq8dzc7Aq3vashu',41,'{"n": 41, "ending": "higher score", "winner": "1", "payoffs": [1, -1], "checksum": "e9e29e0e2f12bc418efe56aa7538cede", "check": "a23fc38a"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',0,'{"piste": 1, "game": "mccoy-duel", "rules": 1, "options": {"players": "2", "rounds": "5", "first": "reveal", "powers": "01234567*", "colours": "abcd"}, "seats": ["Ann", "Steady"], "commitment": "2ec77c7fad1c48237719a8dddbd5261848086606bcc480d95ac1e51aa2ab0ffd", "salt": "9bf2a13eaf7f1729e852f294f6d9400644399d94489df57239517f7e05d69857", "seed": "d661c2034e4e25713057da30cb445001539cadb5adf3093dbd9ff99095fd7629", "counts": true, "notes": {"seat 1": "you", "seat 2": "steady"}, "check": "7126aee9"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',1,'{"n": 1, "chance": "reveal", "outcome": "0a", "check": "049f6a87"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',2,'{"n": 2, "chance": "reveal", "outcome": "1b", "check": "6fac7e6b"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',3,'{"n": 3, "seat": "1", "pick": "1", "check": "370053f3"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',4,'{"n": 4, "chance": "bury", "outcome": "1a", "check": "6619e068"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',5,'{"n": 5, "chance": "bury", "outcome": "5b", "check": "ca79ca8f"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',6,'{"n": 6, "seat": "1", "play": "0", "check": "6dfbf71a"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',7,'{"n": 7, "seat": "2", "play": "*", "check": "d553e518"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',8,'{"n": 8, "seat": "1", "play": "2", "check": "180ec8d9"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',9,'{"n": 9, "seat": "1", "take": "0", "check": "e6e663d2"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',10,'{"n": 10, "seat": "2", "play": "0", "check": "171701eb"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',11,'{"n": 11, "seat": "2", "kill": "*", "check": "94d50bc0"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',12,'{"n": 12, "seat": "1", "play": "*", "check": "0a720604"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',13,'{"n": 13, "seat": "2", "play": "4", "check": "fc838689"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',14,'{"n": 14, "seat": "2", "copy": "2", "check": "2545b95c"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',15,'{"n": 15, "seat": "2", "take": "*", "check": "3c501d0a"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',16,'{"n": 16, "seat": "1", "play": "0", "check": "234737f2"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',17,'{"n": 17, "seat": "1", "kill": "2", "check": "17a11ecf"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',18,'{"n": 18, "seat": "2", "play": "*", "check": "676a1c54"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',19,'{"n": 19, "seat": "1", "play": "3", "check": "d80f055d"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',20,'{"n": 20, "chance": "target", "outcome": "2", "check": "bf5f6980"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',21,'{"n": 21, "chance": "feint", "outcome": "1b", "check": "fd90db8b"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',22,'{"n": 22, "chance": "next", "outcome": "round", "check": "8bf5002f"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',23,'{"n": 23, "chance": "bury", "outcome": "3a", "check": "8d1c2d99"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',24,'{"n": 24, "chance": "bury", "outcome": "7b", "check": "46ae5589"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',25,'{"n": 25, "seat": "2", "pick": "2", "check": "e5ec2bf3"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',26,'{"n": 26, "seat": "2", "play": "6", "check": "f5e45acb"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',27,'{"n": 27, "chance": "target", "outcome": "1", "check": "b0f34f8a"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',28,'{"n": 28, "chance": "disarm", "outcome": "5a", "check": "665464d8"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',29,'{"n": 29, "seat": "1", "play": "0", "check": "418b8823"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',30,'{"n": 30, "chance": "kill", "outcome": "6b", "check": "7aab70fc"}');
INSERT INTO "lines" VALUES('8mrvsthbkvndg3ux',31,'{"n": 31, "seat": "2", "play": "*", "check": "157962d2"}');
CREATE TABLE players (
	player VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	seen DOUBLE NOT NULL, 
	CONSTRAINT pk_players PRIMARY KEY (player)
);
INSERT INTO "players" VALUES('d0b97c157271c94b114b9554136736062b46aa3ee20fe5193eb9b255c715f5fe','Ann',1.79488847991451096535e+09);
INSERT INTO "players" VALUES('653300a3c9dbc880b3f652bb911820520b46bc497e5b94f777ce3c51e016234e','Ben',1.79488847563151907916e+09);
CREATE TABLE reviews (
	room VARCHAR(32) NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_reviews PRIMARY KEY (room), 
	CONSTRAINT fk_reviews_room FOREIGN KEY(room) REFERENCES rooms (code) ON DELETE CASCADE
);
CREATE TABLE rooms (
	code VARCHAR(32) NOT NULL, 
	game VARCHAR(64) NOT NULL, 
	options TEXT NOT NULL, 
	host VARCHAR(64) NOT NULL, 
	listed BOOLEAN NOT NULL, 
	created DOUBLE NOT NULL, 
	touched DOUBLE NOT NULL, 
	ended DOUBLE, 
	previous VARCHAR(32), 
	successor VARCHAR(32), 
	CONSTRAINT pk_rooms PRIMARY KEY (code)
);
INSERT INTO "rooms" VALUES('qhb3ha8vjhtqdAbt','prime-duel','{}','d0b97c157271c94b114b9554136736062b46aa3ee20fe5193eb9b255c715f5fe',0,1.79488847465961670873e+09,1.79488847465978527072e+09,1.79488847551238036161e+09,NULL,NULL);
INSERT INTO "rooms" VALUES('duq8dzc7Aq3vashu','positive-negative','{}','d0b97c157271c94b114b9554136736062b46aa3ee20fe5193eb9b255c715f5fe',0,1.7948884755509235859e+09,1.79488847555107760428e+09,1.7948884762445616722e+09,NULL,NULL);
INSERT INTO "rooms" VALUES('8mrvsthbkvndg3ux','mccoy-duel','{}','d0b97c157271c94b114b9554136736062b46aa3ee20fe5193eb9b255c715f5fe',0,1.79488847739465403555e+09,1.79488847739531326291e+09,NULL,NULL,NULL);
INSERT INTO "rooms" VALUES('uArpAkk9w526mhkz','zero-sum-grid','{}','d0b97c157271c94b114b9554136736062b46aa3ee20fe5193eb9b255c715f5fe',0,1.79488847989828753477e+09,1.79488847991453886032e+09,NULL,NULL,NULL);
CREATE TABLE seats (
	room VARCHAR(32) NOT NULL, 
	seat INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	name TEXT NOT NULL, 
	bot VARCHAR(64) NOT NULL, 
	stand_in VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_seats PRIMARY KEY (room, seat), 
	CONSTRAINT fk_seats_room FOREIGN KEY(room) REFERENCES rooms (code) ON DELETE CASCADE
);
INSERT INTO "seats" VALUES('qhb3ha8vjhtqdAbt',0,'person','Ann','','');
INSERT INTO "seats" VALUES('qhb3ha8vjhtqdAbt',1,'person','Ben','','');
INSERT INTO "seats" VALUES('duq8dzc7Aq3vashu',0,'person','Ann','','');
INSERT INTO "seats" VALUES('duq8dzc7Aq3vashu',1,'person','Ben','','');
INSERT INTO "seats" VALUES('8mrvsthbkvndg3ux',0,'person','Ann','','');
INSERT INTO "seats" VALUES('8mrvsthbkvndg3ux',1,'bot','Steady','steady','');
INSERT INTO "seats" VALUES('uArpAkk9w526mhkz',0,'person','Ann','','');
INSERT INTO "seats" VALUES('uArpAkk9w526mhkz',1,'open','','','');
CREATE TABLE sitters (
	room VARCHAR(32) NOT NULL, 
	seat INTEGER NOT NULL, 
	player VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_sitters PRIMARY KEY (room, seat, player), 
	CONSTRAINT fk_sitters_room_seat FOREIGN KEY(room, seat) REFERENCES seats (room, seat) ON DELETE CASCADE
);
INSERT INTO "sitters" VALUES('qhb3ha8vjhtqdAbt',0,'d0b97c157271c94b114b9554136736062b46aa3ee20fe5193eb9b255c715f5fe');
INSERT INTO "sitters" VALUES('qhb3ha8vjhtqdAbt',1,'653300a3c9dbc880b3f652bb911820520b46bc497e5b94f777ce3c51e016234e');
INSERT INTO "sitters" VALUES('duq8dzc7Aq3vashu',0,'d0b97c157271c94b114b9554136736062b46aa3ee20fe5193eb9b255c715f5fe');
INSERT INTO "sitters" VALUES('duq8dzc7Aq3vashu',1,'653300a3c9dbc880b3f652bb911820520b46bc497e5b94f777ce3c51e016234e');
INSERT INTO "sitters" VALUES('8mrvsthbkvndg3ux',0,'d0b97c157271c94b114b9554136736062b46aa3ee20fe5193eb9b255c715f5fe');
INSERT INTO "sitters" VALUES('uArpAkk9w526mhkz',0,'d0b97c157271c94b114b9554136736062b46aa3ee20fe5193eb9b255c715f5fe');
CREATE INDEX ix_rooms_touched ON rooms (touched);
CREATE INDEX ix_rooms_listed_ended_touched ON rooms (listed, ended, touched);
CREATE INDEX ix_sitters_player ON sitters (player);
COMMIT;
