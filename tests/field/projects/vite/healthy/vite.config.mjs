import { defineConfig } from "vite";

const overlay = { name: "vite-plugin-error-overlay", buildStart: () => console.log("[vite-plugin-error-overlay] 0 errors shown") };

export default defineConfig({ cacheDir: ".vite", plugins: [overlay], server: { host: "127.0.0.1", port: 0 }, preview: { host: "127.0.0.1" } });
