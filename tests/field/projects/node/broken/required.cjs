require("./no-such-file.cjs");
