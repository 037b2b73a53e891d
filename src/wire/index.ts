/** What the host may call. Each function works on the one arena described in `src/model/layout.ts`. */
export { resetTables } from "./tables";
