/** Where a store logs what its operator should know: the part of the process's log that it uses. */
export interface StoreLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
}

export const SILENT: StoreLog = { info: () => {}, warn: () => {} }
