/** The properties of a service over HTTP, on many random values. */
import { manyRuns } from './many-runs.ts'

manyRuns('over HTTP')
