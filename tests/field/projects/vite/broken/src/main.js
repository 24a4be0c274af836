import { total } from "./cart.js";
import "./no-such-file.js";

total();
