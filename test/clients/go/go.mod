module clients

go 1.24

require (
	github.com/google/uuid v1.4.0
	github.com/permitio/permit-golang v1.2.8
	go.uber.org/zap v1.26.0
)

require (
	github.com/golang/protobuf v1.5.3 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	golang.org/x/net v0.23.0 // indirect
	golang.org/x/oauth2 v0.14.0 // indirect
	google.golang.org/appengine v1.6.8 // indirect
	google.golang.org/protobuf v1.31.0 // indirect
)
