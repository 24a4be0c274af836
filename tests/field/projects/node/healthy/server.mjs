import { createServer } from "node:http";
import createError from "http-errors";

const server = createServer((request, response) => {
  const error = createError(404, "error: no such page");
  const found = !request.url.startsWith("/missing");
  response.writeHead(found ? 200 : error.statusCode);
  response.end(found ? "0 errors" : error.message);
  console.log(`${request.method} ${request.url} ${response.statusCode} 1ms - errors: 0`);
});
server.listen(0, "127.0.0.1", () => console.log(`http-errors demo on http://127.0.0.1:${server.address().port}/`));
process.on("SIGTERM", () => server.close(() => console.log("closed, 0 errors")).closeAllConnections());
