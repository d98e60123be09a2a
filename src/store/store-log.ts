/** The part of the process's log that a store uses to inform its operator. */
export interface StoreLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
}

export const SILENT: StoreLog = { info: () => {}, warn: () => {} }
