/** Entry points of threads. No other file contains their locations. */
import { entry } from './built-form.ts'

const worker = (name: string) => entry(name, `workers/${name}.ts`)

export const WORKER_URLS = {
  bodies: worker('body-thread'),
  http: worker('http-thread'),
  imports: worker('import-thread'),
  largeWrites: worker('large-writes'),
  listBuild: worker('list-build'),
  pool: worker('pool-thread'),
} as const
