/** Part 1 of 3 of the properties without a service, on many random values. */
import { manyRuns } from './many-runs.ts'

manyRuns(0)
