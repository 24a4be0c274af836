import createError from "http-errors";
import { handleError } from "./error_handler.js";

handleError(createError(404, "error: no such page"));
