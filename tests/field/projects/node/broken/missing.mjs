import "no-such-package";
